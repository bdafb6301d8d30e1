"""The shared vectors of requests, options and pages, for both clients."""

from __future__ import annotations

import json
import os
import unittest
from typing import Any, Dict, Type
from unittest import mock
from urllib.parse import parse_qsl, unquote

from health_interop import TransportError, ValidationError
from health_interop._call import following

from .support import HEALTH_ID, Recorded, Runner, each, parse_url, reply, snake, vectors

_UUID4 = r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
_REQUESTS, _PAGING = vectors("requests"), vectors("paging")


class _Case(unittest.TestCase):
    asynchronous = False

    def setUp(self) -> None:
        self.runner = Runner(self.asynchronous)
        self.addCleanup(self.runner.close)


class Requests(_Case):
    def check(self, vector: Dict[str, Any]) -> None:
        transport = Recorded(reply(204) if vector["call"] == "webhooks.unsubscribe" else reply(200, {}))
        client = self.runner.client(transport=transport)
        self.runner.call(client, vector["call"], vector["arguments"], vector.get("options"))
        (request,) = transport.requests
        path, query = parse_url(request.url)
        expected = vector["expected"]
        self.assertEqual((request.method, path.replace("%24", "$")), (expected["method"], expected["path"]))
        self.assertEqual([list(pair) for pair in parse_qsl(query, keep_blank_values=True)], expected["query"])
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.assertEqual({name: headers.get(name) for name in expected["headers"]}, expected["headers"])
        self.assertEqual([name for name in expected["absentHeaders"] if name in headers], [])
        self.assertEqual("idempotency-key" in headers, expected["hasIdempotencyKey"])
        if expected["hasIdempotencyKey"] and "idempotencyKey" not in vector.get("options", {}):
            self.assertRegex(headers["idempotency-key"], _UUID4)
        self.assertEqual(None if request.body is None else json.loads(request.body), expected["body"])
        self.assertEqual(headers["authorization"], "Bearer token-1")
        self.assertEqual(headers["user-agent"], "health-interop-python/1.2.0")


class Invalid(_Case):
    def check(self, vector: Dict[str, Any]) -> None:
        transport = Recorded()
        client = self.runner.client(transport=transport)
        with self.assertRaises(ValidationError) as raised:
            self.runner.call(client, vector["call"], vector["arguments"], vector.get("options"))
        self.assertEqual((raised.exception.error_code, raised.exception.status), (vector["errorCode"], None))
        self.assertEqual(transport.requests, [])


class Options(_Case):
    def check(self, vector: Dict[str, Any]) -> None:
        transport = Recorded()
        options = {"base_url": "https://hie.example.org", **{snake(key): value for key, value in vector["options"].items()}}
        if vector["valid"]:
            self.runner.client(transport=transport, **options)
            return
        with self.assertRaises(ValidationError) as raised:
            self.runner.client(transport=transport, **options)
        self.assertEqual((raised.exception.error_code, transport.requests), ("INVALID_OPTION", []))


class Bundles(_Case):
    def check(self, vector: Dict[str, Any]) -> None:
        transport = Recorded(*[reply(200, page) for page in vector["pages"]])
        client = self.runner.client(transport=transport)
        first = self.runner.call(client, vector["call"], vector["arguments"])
        found = self.runner.run(client.fhir.iterate(first))
        self.assertEqual([each["id"] for each in found], vector["ids"])
        self.assertEqual(["/" + each.url.split("/", 3)[3] for each in transport.requests[1:]], vector["requests"])
        again = Recorded(*[reply(200, page) for page in vector["pages"]])
        resources = self.runner.call(self.runner.client(transport=again), "fhir.searchAll", vector["arguments"])
        self.assertEqual([each["id"] for each in resources], vector["ids"])


class Lists(_Case):
    def check(self, vector: Dict[str, Any]) -> None:
        transport = Recorded(*[reply(200, page) for page in vector["pages"]])
        client = self.runner.client(transport=transport)
        found = self.runner.call(client, vector["call"], vector["arguments"])
        self.assertEqual([each["id"] for each in found], vector["ids"])
        queries = [[list(pair) for pair in parse_qsl(parse_url(each.url)[1])] for each in transport.requests]
        self.assertEqual(queries, vector["queries"])


@each(_PAGING["links"], "next link: ")
class Links(unittest.TestCase):
    def check(self, vector: Dict[str, Any]) -> None:
        if vector["path"] is not None:
            self.assertEqual(following(vector["link"], "https://hie.example.org", {}).target, vector["path"])
            return
        with self.assertRaises(TransportError) as raised:
            following(vector["link"], "https://hie.example.org", {})
        self.assertEqual(raised.exception.reason, "invalid_response")


def _both(case: Type[_Case], cases: Any, prefix: str) -> None:
    """Make the tests of both clients."""
    for asynchronous in (False, True):
        name = ("Async" if asynchronous else "") + case.__name__
        made = type(name, (case,), {"asynchronous": asynchronous})
        globals()[name] = each(cases, ("async, " if asynchronous else "") + prefix)(made)


_both(Requests, _REQUESTS["requests"], "request: ")
_both(Invalid, _REQUESTS["invalid"], "refused without a request: ")
_both(Options, _REQUESTS["options"], "option: ")
_both(Bundles, _PAGING["bundles"], "bundle: ")
_both(Lists, _PAGING["lists"], "list: ")


class BaseUrl(_Case):
    def _url(self, **options: Any) -> str:
        transport = Recorded()
        client = self.runner.client(**{"transport": transport, "base_url": None, **options})
        client.tokens.introspect()
        return transport.requests[0].url

    def test_variable(self) -> None:
        """the base URL comes from HEALTH_INTEROP_BASE_URL, then from the environment local"""
        with mock.patch.dict(os.environ, {"HEALTH_INTEROP_BASE_URL": "https://env.example.org/"}):
            self.assertEqual(self._url(), "https://env.example.org/api/v1/sdk/token/introspect")
        with mock.patch.dict(os.environ, clear=True):
            self.assertEqual(self._url(), "http://127.0.0.1:8080/api/v1/sdk/token/introspect")
            with self.assertRaises(ValidationError):
                self._url(environment="sandbox")


class Records(_Case):
    def test_all(self) -> None:
        """records are iterated one type at a time, which is told before any request"""
        for asynchronous in (False, True):
            runner, transport = Runner(asynchronous), Recorded()
            client = runner.client(transport=transport)
            with self.assertRaises(ValidationError) as raised:
                client.records.list_all(HEALTH_ID, "all")
            self.assertEqual((raised.exception.error_code, transport.requests), ("INVALID_ARGUMENT", []))
            runner.close()


class Custom(_Case):
    def test_request(self) -> None:
        """a request to any path has its query, its body, a key and the options of a call"""
        transport = Recorded()
        client = self.runner.client(transport=transport)
        client.request("post", "/api/v1/x/é?a=1", query={"b": [1, True]}, body={"ü": 1}, request_id="req-12345678")
        (request,) = transport.requests
        self.assertEqual(request.url, "https://hie.example.org/api/v1/x/%C3%A9?a=1&b=1&b=true")
        self.assertEqual(request.body, '{"ü":1}'.encode())
        self.assertIn("Idempotency-Key", request.headers)
        self.assertEqual(request.headers["X-Request-Id"], "req-12345678")

    def test_paths(self) -> None:
        """a path to another host or with a line break is refused"""
        client = self.runner.client(transport=Recorded())
        for path in ("//elsewhere.example/x", "https://elsewhere.example/", "x", "", "/a b", "/a\r\nX: y"):
            with self.assertRaises(ValidationError, msg=path) as raised:
                client.request("GET", path)
            self.assertEqual(raised.exception.error_code, "INVALID_ARGUMENT")

    def test_body(self) -> None:
        """what JSON cannot hold is refused without a request"""
        transport = Recorded()
        client = self.runner.client(transport=transport)
        for body in ({"a": float("nan")}, {"a": "\ud800"}):
            with self.assertRaises(ValidationError):
                client.request("PUT", "/api/x", body=body)
        with self.assertRaises(TypeError):
            client.tokens.introspect(time_out=5)
        with self.assertRaises(ValidationError):
            client.fhir.search("Patient", {"name": "\ud800"})
        self.assertEqual(transport.requests, [])

    def test_encoding(self) -> None:
        """a Health ID in a path is percent-encoded after it is normalised"""
        transport = Recorded()
        self.runner.client(transport=transport).fhir.patient_search(HEALTH_ID.lower(), "Obs/é")
        self.assertEqual(unquote(transport.requests[0].url).rsplit("/fhir/", 1)[1], "Obs/é")
