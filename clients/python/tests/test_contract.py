"""The library exposes exactly clients/contract.json: nothing is missing, and nothing is there beside it."""

from __future__ import annotations

import inspect
import json
import unittest
from typing import Any, Dict, List, Optional

import health_interop
from health_interop import AsyncServiceClient, ServiceClient, ServiceError
from health_interop._options import CallOptions, RequestOptions

from .support import CLIENTS, Recorded, Runner, snake

_CONTRACT = json.loads((CLIENTS / "contract.json").read_text("utf-8"))
_HELPERS = {
    "AsyncServiceClient",
    "AsyncTokenCache",
    "AsyncTransport",
    "AttemptRecord",
    "RateLimit",
    "Request",
    "Response",
    "ResponseInfo",
    "ServiceClient",
    "TokenCache",
    "Transport",
    "__version__",
    "response_of",
}


def public(thing: object) -> List[str]:
    """Return the public names of an object."""
    return sorted(name for name in dir(thing) if not name.startswith("_"))


class Contract(unittest.TestCase):
    def setUp(self) -> None:
        self.runners = [Runner(False), Runner(True)]
        self.clients = [runner.client(transport=Recorded()) for runner in self.runners]
        for runner in self.runners:
            self.addCleanup(runner.close)

    def test_client(self) -> None:
        """a client has exactly the modules, properties and methods of the contract, and close()"""
        names = [*_CONTRACT["modules"], *_CONTRACT["client"]["properties"], *_CONTRACT["client"]["methods"], "close"]
        self.assertEqual(public(self.clients[0]), sorted(map(snake, names)))
        self.assertEqual(public(self.clients[1]), sorted([*map(snake, names), "create"]))

    def test_options(self) -> None:
        """a client takes exactly the options of the contract"""
        expected = [snake(each["name"]) for each in _CONTRACT["client"]["options"] if _here(each)]
        for kind in (ServiceClient, AsyncServiceClient):
            self.assertEqual(sorted(inspect.signature(kind).parameters), sorted(expected))
        needed = [each.name for each in inspect.signature(ServiceClient).parameters.values() if each.default is each.empty]
        self.assertEqual(needed, [snake(each["name"]) for each in _CONTRACT["client"]["options"] if each["required"]])

    def test_call_options(self) -> None:
        """a call takes exactly the options of the contract"""
        self.assertEqual(sorted(CallOptions.__annotations__), sorted(map(snake, _CONTRACT["client"]["callOptions"])))
        own = set(RequestOptions.__annotations__) - set(CallOptions.__annotations__)
        self.assertEqual(own, {"query", "body"})

    def test_methods(self) -> None:
        """a module has exactly the methods of the contract"""
        for name, methods in _CONTRACT["modules"].items():
            for client in self.clients:
                self.assertEqual(public(getattr(client, snake(name))), sorted(map(snake, methods)), name)

    def test_parameters(self) -> None:
        """a method has exactly the parameters of the contract, in its order, and its default values"""
        for module, methods in _CONTRACT["modules"].items():
            for name, method in methods.items():
                for client in self.clients:
                    function = getattr(getattr(client, snake(module)), snake(name))
                    self.assertEqual(_actual(function), _expected(methods, name), f"{module}.{name}")
                    sends = "method" in method or method["returns"] == "iterator"
                    has = any(each.kind is each.VAR_KEYWORD for each in inspect.signature(function).parameters.values())
                    self.assertEqual(has, sends, f"{module}.{name} takes options of a call")

    def test_awaited(self) -> None:
        """a method of AsyncServiceClient is awaited exactly if it sends a request and does not iterate"""
        for module, methods in _CONTRACT["modules"].items():
            for name, method in methods.items():
                function = getattr(getattr(self.clients[1], snake(module)), snake(name))
                self.assertEqual(inspect.iscoroutinefunction(function), "method" in method, f"{module}.{name}")

    def test_request(self) -> None:
        """request takes what the contract says"""
        expected = [each["name"] for each in _CONTRACT["client"]["methods"]["request"]["parameters"]]
        for client in self.clients:
            self.assertEqual(list(inspect.signature(client.request).parameters), expected)

    def test_docstrings(self) -> None:
        """every public function says what it does, in the words of the contract where it is of the contract"""
        for module, methods in _CONTRACT["modules"].items():
            for name, method in methods.items():
                for client in self.clients:
                    text = inspect.getdoc(getattr(getattr(client, snake(module)), snake(name))) or ""
                    self.assertEqual(text.split("\n")[0], method["summary"] + ".")
        for name in health_interop.__all__:
            thing = getattr(health_interop, name)
            self.assertTrue(not inspect.isclass(thing) and not inspect.isfunction(thing) or inspect.getdoc(thing), name)

    def test_errors(self) -> None:
        """the errors, their properties and their bases are those of the contract"""
        classes = {each["name"]: each for each in _CONTRACT["errors"]["classes"]}
        exported = {name for name in health_interop.__all__ if name not in _HELPERS}
        self.assertEqual(exported, {*classes, _CONTRACT["errors"]["base"]["python"]})
        for name, each in classes.items():
            base = getattr(health_interop, each.get("extends", "ServiceError"))
            self.assertIs(getattr(health_interop, name).__mro__[1], base)
        self.assertEqual(sorted(vars(ServiceError("x"))), sorted(map(snake, _CONTRACT["errors"]["properties"])))

    def test_version(self) -> None:
        """the version is that of the contract"""
        self.assertEqual(health_interop.__version__, _CONTRACT["version"])


def _here(option: Dict[str, Any]) -> bool:
    return "python" in option.get("languages", ["python"])


def _actual(function: Any) -> Dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {each.name: _default(each) for each in parameters if each.kind is not each.VAR_KEYWORD}


def _default(parameter: inspect.Parameter) -> Any:
    return "required" if parameter.default is parameter.empty else parameter.default


def _expected(methods: Dict[str, Any], name: str) -> Dict[str, Any]:
    method = methods[name]
    parameters: Optional[List[Dict[str, Any]]] = method["parameters"]
    required = method.get("required", [])
    if parameters is None:
        parameters = methods[method["iterates"]]["parameters"]
    return {
        snake(each["name"]): "required" if each["required"] or each["name"] in required else each.get("default")
        for each in parameters
    }
