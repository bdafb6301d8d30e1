"""The texts of the modules of both clients, from clients/contract.json."""

from __future__ import annotations

import re
from typing import Any

from types_file import TypesFile

_HEAD = '''"""{title}. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterator, Literal, Mapping, Optional, Sequence, Union

{imports}
from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


'''
_TYPES = {"string": "str", "healthId": "str", "integer": "int", "list": "Sequence[str]", "map": "Mapping[str, Any]"}
_TYPES.update(bundle="Mapping[str, Any]", bytes="RawBody", secrets="Secrets", payload="Union[str, Mapping[str, Any]]")
_RETURNS = {"none": "None", "string": "str"}
_WIDTH = 120
_OPTIONS = "**options: Unpack[CallOptions]"


def module_files(contract: dict[str, Any], description: dict[str, Any], types: TypesFile) -> dict[str, str]:
    """Return the text of every module, by its path in the package."""
    files = {}
    for name, methods in contract["modules"].items():
        for asynchronous in (False, True):
            folder = "_async" if asynchronous else "_sync"
            writer = _Writer(name, methods, description, types, asynchronous)
            files[f"{folder}/{snake(name)}.py"] = writer.text()
    return files


def snake(name: str) -> str:
    """Return a camelCase name in snake_case."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)


class _Writer:
    """Writes one module of one client."""

    def __init__(self, name: str, methods: Any, description: Any, types: TypesFile, asynchronous: bool) -> None:
        self._name, self._methods, self._types, self._async = name, methods, types, asynchronous
        self._paths = description["paths"]

    def text(self) -> str:
        """Return the file."""
        title = f"client.{snake(self._name)}"
        body = f'class {self._name[0].upper()}{self._name[1:]}(Module):\n    """The methods of ``{title}``."""\n\n'
        body += "    __slots__ = ()\n\n" + "\n".join(self._method(*each) for each in self._methods.items())
        imports = []
        if re.search(r"\bnormalize\(", body):
            imports.append("from .._health_id import normalize")
        if re.search(r"\bfields\(", body):
            imports.insert(0, "from .._call import fields")
        if self._name == "webhooks":
            imports.insert(0, "from .. import webhooks")
            imports.append("from ..webhooks import Header, RawBody, Secrets, SignedPayload")
        head = _HEAD.format(title=f"The module {title}", imports="\n".join(imports))
        return _only_used(head.replace("\n\n\nfrom .._opt", "\n\nfrom .._opt"), body)

    def _method(self, name: str, method: dict[str, Any]) -> str:
        if "iterates" in method:
            return self._iterator(name, method)
        if "method" not in method:
            return self._pure(name, method)
        return self._operation(name, method)

    def _operation(self, name: str, method: dict[str, Any]) -> str:
        parameters = method["parameters"]
        returns = self._returns(method)
        wait, word = ("await ", "async ") if self._async else ("", "")
        if "type" in method:
            end = f"        return {wait}self.patient_search(health_id, \"{method['type']}\", filters, **options)\n"
            return _def(word, name, self._signature(parameters, method), returns) + _doc(method["summary"]) + end
        head = "" if returns == "None" else f"reply: {returns} = "
        end = _wrapped(f"        {head}{wait}self._send(", self._arguments(method), ")")
        end += "" if returns == "None" else "        return reply\n"
        doc = _doc(method["summary"], f"{method['method']} {method['path']}")
        return _def(word, name, self._signature(parameters, method), returns) + doc + end

    def _arguments(self, method: dict[str, Any]) -> list[str]:
        at: dict[str, list[Any]] = {"path": [], "query": [], "body": []}
        for each in method["parameters"]:
            at[each["in"]].append(each)
        parts = [f'"{method["method"]}"', f'"{method["path"]}"', "options"]
        if at["path"]:
            parts.append("path={" + ", ".join(_path_item(each) for each in at["path"]) + "}")
        if at["query"]:
            parts.append("query=" + _object(at["query"]))
        if at["body"]:
            parts.append("body=" + _object(at["body"]))
        return parts

    def _signature(self, parameters: list[Any], method: dict[str, Any], required: tuple[str, ...] = ()) -> list[str]:
        plain, keywords = [], []
        for each in parameters:
            kind = self._kind(each, method, bool(required))
            if each["required"] or each["name"] in required:
                plain.append(f"{snake(each['name'])}: {kind}")
            elif each["in"] == "query" and each["type"] != "map":
                keywords.append(f"{snake(each['name'])}: Optional[{kind}] = None")
            else:
                plain.append(f"{snake(each['name'])}: Optional[{kind}] = None")
        return [*plain, *(["*"] if keywords else []), *keywords, _OPTIONS]

    def _kind(self, parameter: dict[str, Any], method: dict[str, Any], single: bool) -> str:
        if parameter["type"] == "object":
            schema = parameter.get("schema", "")
            return f"types.{self._types.named(schema)}" if self._types.knows(schema) else "Mapping[str, Any]"
        wire = parameter.get("wire", parameter["name"])
        operation = self._paths.get(method.get("path", ""), {}).get(method.get("method", "").lower(), {})
        for each in operation.get("parameters", ()):
            if each.get("name") == wire and "enum" in each.get("schema", {}):
                kind = self._types.expression(each["schema"], "")
                return kind.replace(', "all"]', "]") if single else kind
        return _TYPES[parameter["type"]]

    def _returns(self, method: dict[str, Any]) -> str:
        if method["returns"] == "bundle":
            return f"types.{self._types.named('FhirBundle')}"
        if method["returns"] in _RETURNS:
            return _RETURNS[method["returns"]]
        schema = self._reply_schema(method)
        return f"types.{self._types.named(schema)}" if schema else "Dict[str, Any]"

    def _reply_schema(self, method: dict[str, Any]) -> str | None:
        operation = self._paths.get(method["path"], {}).get(method["method"].lower(), {})
        for status in ("201", "202", "200"):
            content = operation.get("responses", {}).get(status, {}).get("content", {})
            schema = next(iter(content.values()), {}).get("schema", {})
            if "$ref" in schema:
                return str(schema["$ref"].rsplit("/", 1)[1])
        return None

    def _iterator(self, name: str, method: dict[str, Any]) -> str:
        base = self._methods[method["iterates"]]
        required = tuple(method.get("required", ()))
        signature = self._signature(base["parameters"], base, required)
        names = [snake(each["name"]) for each in base["parameters"]]
        kind = "AsyncIterator" if self._async else "Iterator"
        doc = _doc(method["summary"], "Pages are fetched when they are needed.")
        source = snake(method["iterates"])
        if base["returns"] == "bundle":
            call = ["self._iterate_from(", f"lambda: self.{source}({', '.join(names)}, **options)", "options"]
            item = "types.FhirResource"
            self._types.named("FhirResource")
        else:
            place = re.sub(r"\{(\w+)\}", r"{\1}", method.get("entries", "data"))
            text = f'f"{place}"' if "{" in place else f'"{place}"'
            given = ", ".join(f"{each}={each}" for each in names)
            call = ["self._pages(", text, f"lambda cursor: self.{source}({given}, **options)", "cursor"]
            item = self._item(base) if place == "data" else "Dict[str, Any]"
        return _def("", name, signature, f"{kind}[{item}]") + doc + _wrapped(f"        return {call[0]}", call[1:], ")")

    def _item(self, method: dict[str, Any]) -> str:
        """Return the type of an entry of a list's reply."""
        schema = self._types.schema(self._reply_schema(method) or "")
        item = schema.get("properties", {}).get("data", {}).get("items")
        found = self._types.expression(item, "") if item else "Any"
        return f"types.{found}" if item and found[0].isupper() and "[" not in found else "Dict[str, Any]"

    def _pure(self, name: str, method: dict[str, Any]) -> str:
        """Write a method without a request of its own."""
        parameters = method["parameters"]
        doc = _doc(method["summary"])
        if method["returns"] == "iterator":
            kind = "AsyncIterator" if self._async else "Iterator"
            self._types.named("FhirResource")
            doc = _doc(method["summary"], "Pages are fetched when they are needed.")
            signature = ["bundle: Mapping[str, Any]", _OPTIONS]
            return _def("", name, signature, f"{kind}[types.FhirResource]") + doc + "        return self._iterate(bundle, options)\n"
        written = [f"{snake(each['name'])}: {_pure_kind(each)}" for each in parameters]
        given = ", ".join(snake(each["name"]) for each in parameters)
        function = snake(name) if self._name == "healthIds" else f"webhooks.{snake(name)}"
        returns = {"string": "str", "none": "None"}.get(method["returns"], "types.WebhookEvent")
        if name == "signTestPayload":
            returns = "SignedPayload"
        end = f"        {'' if returns == 'None' else 'return '}{function}({given})\n"
        return _def("", name, written, returns) + doc + end


def _def(word: str, name: str, parameters: list[str], returns: str) -> str:
    return _wrapped(f"    {word}def {snake(name)}(", ["self", *parameters], f") -> {returns}:")


def _wrapped(head: str, items: list[str], tail: str) -> str:
    """Write items in brackets on one line if they fit, else on a line each."""
    line = head + ", ".join(items) + tail + "\n"
    if len(line) <= _WIDTH:
        return line
    indent = " " * (len(head) - len(head.lstrip()))
    return head + "\n" + "".join(f"{indent}    {item},\n" for item in items) + indent + tail + "\n"


def _pure_kind(parameter: dict[str, Any]) -> str:
    kind = "Header" if parameter["name"] == "header" else _TYPES[parameter["type"]]
    if parameter["required"]:
        return kind
    return f"{kind} = {parameter['default']}" if "default" in parameter else f"Optional[{kind}] = None"


def _path_item(parameter: dict[str, Any]) -> str:
    mark = "!" if parameter["type"] == "healthId" else ""
    return f'"{parameter.get("wire", parameter["name"])}{mark}": {snake(parameter["name"])}'


def _object(parameters: list[Any]) -> str:
    """Write the query or the body: one object as it is given, or fields by their names on the wire."""
    if len(parameters) == 1 and parameters[0]["type"] in ("map", "object"):
        return snake(parameters[0]["name"])
    items = []
    for each in parameters:
        value = snake(each["name"])
        value = f"normalize({value})" if each["type"] == "healthId" else value
        items.append(f"{each.get('wire', each['name'])}={value}")
    return f"fields({', '.join(items)})"


def _doc(summary: str, more: str = "") -> str:
    if not more:
        return f'        """{summary}."""\n'
    return f'        """{summary}.\n\n        {more}\n        """\n'


def _only_used(head: str, body: str) -> str:
    """Drop the names of typing that the body does not use."""

    def names(match: re.Match[str]) -> str:
        used = [name for name in match[1].split(", ") if name == "TYPE_CHECKING" or re.search(rf"\b{name}\b", body)]
        return f"from typing import {', '.join(used)}\n"

    head = re.sub(r"from typing import (.+)\n", names, head)
    return head + body
