"""The shared vectors: Health IDs, signatures, waits, headers, errors."""

from __future__ import annotations

import base64
import unittest
from typing import Any, Dict
from unittest import mock

from health_interop import ValidationError, WebhookSignatureError, webhooks
from health_interop._health_id import normalize
from health_interop._responses import rate_limit_of
from health_interop._retry import backoff, retry_after_of

from .support import Recorded, Response, Runner, each, error_class, reply, snake, vectors

_IDS, _SIGNATURES = vectors("health-ids"), vectors("signatures")


@each(_IDS["valid"], "a Health ID is read: ")
class ValidHealthIds(unittest.TestCase):
    def check(self, vector: Dict[str, Any]) -> None:
        self.assertEqual(normalize(vector["input"]), vector["canonical"])


@each(_IDS["invalid"], "no Health ID: ")
class InvalidHealthIds(unittest.TestCase):
    def check(self, vector: Dict[str, Any]) -> None:
        with self.assertRaises(ValidationError) as raised:
            normalize(vector["input"])
        self.assertEqual((raised.exception.error_code, raised.exception.status), ("INVALID_HEALTH_ID", None))


def _body(vector: Dict[str, Any]) -> Any:
    if "bodyBase64" in vector:
        return base64.b64decode(vector["bodyBase64"])
    return vector["body"] if "body" in vector else vector["bodyParsed"]


class _Signatures(unittest.TestCase):
    def verify(self, function: Any, vector: Dict[str, Any], body: Any) -> Any:
        given = (body, vector["header"], vector["secret"], vector.get("tolerance", 300))
        with mock.patch("time.time", lambda: vector["now"]):
            if vector["reason"] is None:
                return function(*given)
            with self.assertRaises(WebhookSignatureError) as raised:
                function(*given)
            self.assertEqual(raised.exception.reason, vector["reason"])


@each(_SIGNATURES["verify"], "signature: ")
class Signatures(_Signatures):
    def check(self, vector: Dict[str, Any]) -> None:
        body = _body(vector)
        self.assertIsNone(self.verify(webhooks.verify_signature, vector, body))
        if isinstance(body, str):
            self.assertIsNone(self.verify(webhooks.verify_signature, vector, bytearray(body.encode())))


@each(_SIGNATURES["parseEvent"], "event: ")
class Events(_Signatures):
    def check(self, vector: Dict[str, Any]) -> None:
        event = self.verify(webhooks.parse_event, vector, _body(vector))
        if vector["reason"] is None:
            self.assertEqual(event, vector["event"])


@each(_SIGNATURES["signTestPayload"], "test payload: ")
class TestPayloads(_Signatures):
    def check(self, vector: Dict[str, Any]) -> None:
        body, header = webhooks.sign_test_payload(vector["payload"], vector["secret"], vector["timestamp"])
        self.assertEqual((body, header), (vector["body"], vector["header"]))


@each(vectors("backoff")["vectors"], "wait: ")
class Waits(unittest.TestCase):
    def check(self, vector: Dict[str, Any]) -> None:
        self.assertAlmostEqual(backoff(vector["retry"], vector["random"], vector["retryAfter"]), vector["wait"])


@each(vectors("retry-after")["vectors"], "Retry-After: ")
class RetryAfter(unittest.TestCase):
    def check(self, vector: Dict[str, Any]) -> None:
        headers = {"retry-after": vector["header"], "date": vector["date"]}
        given = {name: value for name, value in headers.items() if value is not None}
        self.assertEqual(retry_after_of(given), vector["seconds"])


@each(vectors("rate-limit")["vectors"], "rate limit: ")
class RateLimits(unittest.TestCase):
    def check(self, vector: Dict[str, Any]) -> None:
        headers = {"ratelimit-policy": vector["policy"], "ratelimit": vector["limit"]}
        found = rate_limit_of({name: value for name, value in headers.items() if value is not None})
        self.assertEqual(None if found is None else vars(found), vector["expected"])


@each(vectors("errors")["vectors"], "error: ")
class Errors(unittest.TestCase):
    def check(self, vector: Dict[str, Any]) -> None:
        runner = Runner(False)
        response = Response(vector["status"], vector["headers"], vector["text"].encode())
        answers = [response, reply(200, {})] if vector["status"] != 401 else [response, response]
        client = runner.client(transport=Recorded(*answers), max_retries=0)
        expected = dict(vector["expected"])
        with self.assertRaises(Exception) as raised:
            client.tokens.introspect()
        error = raised.exception
        self.assertIs(type(error), error_class(expected.pop("class")))
        self.assertEqual({name: getattr(error, snake(name)) for name in expected}, expected)
        self.assertEqual((getattr(error, "status"), getattr(error, "rate_limit")), (vector["status"], None))
        self.assertNotIn("<html>", str(error) + repr(error))
