"""The text of types.py: a TypedDict for every schema that the library names."""

from __future__ import annotations

import keyword
import re
import textwrap
from typing import Any

_HEAD = '''"""The requests, replies and events of the service. Generated from docs/openapi.json by scripts/generate.py."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from ._typing import NotRequired

'''
_OPEN = ("FhirResource", "FhirBundle")
_PRIMITIVES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


class TypesFile:
    """Collects the classes that are asked for, each after those that it uses."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._schemas: dict[str, Any] = description["components"]["schemas"]
        self._classes: dict[str, str] = {}
        for name in sorted(self._schemas):
            if name.endswith("Event") and "type" in self._schemas[name].get("properties", {}):
                self.named(name)
        self._events = list(self._classes)
        self.named("Error")

    def knows(self, name: str) -> bool:
        """Return whether the API description has this schema."""
        return name in self._schemas

    def schema(self, name: str) -> dict[str, Any]:
        """Return a schema of the API description, or an empty one."""
        return self._schemas.get(name, {})

    def named(self, name: str) -> str:
        """Return the name of the type of a schema, after adding it."""
        if name in _OPEN:
            return self._alias(name, self._schemas[name].get("description", ""))
        if name not in self._classes:
            self.expression(self._schemas[name], name)
        return name

    def expression(self, schema: dict[str, Any], name: str) -> str:
        """Return the type expression of a schema; an object becomes a class of this name."""
        if "$ref" in schema:
            return self.named(schema["$ref"].rsplit("/", 1)[1])
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            return f"Literal[{', '.join(_literal(value) for value in values)}]"
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            return self._union(options, name)
        kind = schema.get("type")
        if kind == "array":
            return f"List[{self.expression(schema.get('items', {}), _singular(name))}]"
        if kind == "object":
            return self._object(schema, name)
        return _PRIMITIVES.get(kind, "Any") if isinstance(kind, str) else "Any"

    def text(self) -> str:
        """Return the file."""
        events = [name for name in self._events if name.endswith("Event")]
        union = f"WebhookEvent = Union[\n    {', '.join(events)}\n]\n" + '"""An event that a webhook delivers; `type` tells which."""\n'
        return _HEAD + "\n\n".join(self._classes.values()) + "\n\n" + _wrapped_union(union, events)

    def _union(self, options: list[dict[str, Any]], name: str) -> str:
        found = [self.expression(each, name) for each in options if each.get("type") != "null"]
        unique = list(dict.fromkeys(found))
        inner = unique[0] if len(unique) == 1 else f"Union[{', '.join(unique)}]"
        result = f"Optional[{inner}]" if len(found) < len(options) else inner
        if name in self._schemas and name not in self._classes:
            self._classes[name] = f"{name} = {result}\n"
        return result

    def _object(self, schema: dict[str, Any], name: str) -> str:
        properties = schema.get("properties") or {}
        extra = schema.get("additionalProperties")
        if not properties:
            value = self.expression(extra, name) if isinstance(extra, dict) and extra else "Any"
            return f"Dict[str, {value}]"
        name = schema.get("$id", name)
        if name in self._classes:
            return name
        required = set(schema.get("required", ()))
        lines = [f"class {name}(TypedDict):", *_doc(schema.get("description") or f"{name}.")]
        kinds = {key: self.expression(value, _nested(name, key)) for key, value in properties.items()}
        kinds = {key: kind if key in required else f"NotRequired[{kind}]" for key, kind in kinds.items()}
        for key, kind in kinds.items():
            lines += [f"    {key}: {kind}", *_doc(properties[key].get("description", ""))]
        self._classes[name] = "\n".join(lines) + "\n"
        if any(keyword.iskeyword(key) or not key.isidentifier() for key in kinds):
            items = "".join(f'        "{key}": {kind},\n' for key, kind in kinds.items())
            self._classes[name] = f'{name} = TypedDict(\n    "{name}",\n    {{\n{items}    }},\n)\n'
        return name

    def _alias(self, name: str, description: str) -> str:
        self._classes[name] = f'{name} = Dict[str, Any]\n"""{description}"""\n'
        return name


def _literal(value: Any) -> str:
    return "None" if value is None else f'"{value}"' if isinstance(value, str) else repr(value)


def _nested(name: str, key: str) -> str:
    """Return the name of a class inside of another: PatientRecords and data make PatientRecordsData."""
    return name + "".join(part.capitalize() for part in re.split(r"[^A-Za-z0-9]+", key))


def _singular(name: str) -> str:
    if name.endswith("ies"):
        return name[:-3] + "y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name + "Item"


def _doc(description: str) -> list[str]:
    if not description:
        return []
    text = description.replace("\\", "\\\\").replace('"""', "'''")
    lines = textwrap.wrap(text, 106)
    if len(lines) == 1:
        return [f'    """{lines[0]}"""']
    return [f'    """{lines[0]}', *(f"    {line}" for line in lines[1:]), '    """']


def _wrapped_union(union: str, events: list[str]) -> str:
    names = "".join(f"    {name},\n" for name in events)
    return "WebhookEvent = Union[\n" + names + "]\n" + union.split("]\n", 1)[1]
