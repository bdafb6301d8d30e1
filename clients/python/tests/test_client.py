"""What a client tells of a call: the response, log records, errors; and what it never tells."""

from __future__ import annotations

import asyncio
import json
import pickle
import threading
import unittest
from typing import Any, List
from unittest import mock

from health_interop import (
    AttemptRecord,
    RateLimit,
    Request,
    Response,
    ServerError,
    ServiceClient,
    TransportError,
    ValidationError,
    WebhookSignatureError,
    response_of,
)

from .support import HEALTH_ID, OPTIONS, Clock, Recorded, Runner, reply

_SECRETS = ("secret-of-tests", "token-1", "6.1-mmol", HEALTH_ID)
_LAB: Any = {"health_id": HEALTH_ID, "test_name": "Potassium", "result_value": "6.1-mmol"}


class Told(unittest.TestCase):
    def client(self, transport: Recorded, **options: Any) -> Any:
        return Runner(False).client(transport=transport, **options)

    def test_response_of(self) -> None:
        """a result is a dict that remembers its response, and so does the client"""
        headers = {"x-request-id": "req-1", "ratelimit": '"d";r=5;t=2', "ratelimit-policy": '"d";q=9;w=60'}
        client = self.client(Recorded(reply(200, {"a": [1]}, {**headers, "idempotent-replayed": "true"}), reply(200, {})))
        self.assertIsNone(client.last_response)
        result = client.tokens.introspect()
        info = response_of(result)
        self.assertEqual(info, client.last_response)
        assert info is not None
        self.assertEqual((info.status, info.request_id, info.retries, info.replayed), (200, "req-1", 0, True))
        self.assertEqual(info.rate_limit, RateLimit(limit=9, remaining=5, reset=2))
        client.tokens.introspect()
        self.assertEqual(response_of(result), info)
        self.assertEqual((result, json.dumps(result), isinstance(result, dict)), ({"a": [1]}, '{"a": [1]}', True))
        self.assertEqual(type(pickle.loads(pickle.dumps(result))), dict)
        self.assertIsNone(response_of({}))

    def test_last_response_of_errors(self) -> None:
        """the last response is also that of a call that failed"""
        client = self.client(Recorded(reply(503, {})))
        with self.assertRaises(ServerError):
            client.tokens.introspect()
        self.assertEqual((client.last_response.status, client.last_response.retries), (503, 2))

    def test_pickle(self) -> None:
        """errors survive pickling, for process pools and task queues"""
        errors: List[Any] = [
            ServerError("No.", status=500, error_code="INTERNAL_ERROR", request_id="r", attempts=3, details=[{"field": "x"}]),
            TransportError("No.", reason="timeout", attempts=2),
            WebhookSignatureError("No.", reason="no_match"),
            ValidationError("No.", error_code="INVALID_OPTION"),
        ]
        for error in errors:
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), vars(again), str(again)), (type(error), vars(error), str(error)))

    def test_str(self) -> None:
        """the text of an error has what support asks for"""
        error = ServerError("It broke.", status=500, error_code="INTERNAL_ERROR", request_id="req-1")
        self.assertEqual(str(error), "It broke. (500, INTERNAL_ERROR, request req-1)")
        self.assertEqual(str(TransportError("No answer.", reason="timeout")), "No answer.")


class Logged(unittest.TestCase):
    def records(self, name: str, *arguments: Any, **options: Any) -> List[AttemptRecord]:
        """Return the records of a call, without that of the token."""
        records: List[AttemptRecord] = []
        answers = options.pop("answers", [reply(200, {}, {"x-request-id": "req-1"})])
        client = Runner(False).client(transport=Recorded(*answers), logger=records.append)
        self.assertEqual([record.path for record in records], ["/api/v1/connect/auth/token"])
        target: Any = client
        for part in name.split("."):
            target = getattr(target, part)
        target(*arguments, **options)
        return records[1:]

    def test_attempts(self) -> None:
        """each attempt has a record"""
        answers = [reply(503, {}), reply(200, {}, {"x-request-id": "req-2"})]
        first, second = self.records("tokens.introspect", answers=answers)
        self.assertEqual((first.method, first.path, first.status, first.attempt), ("GET", "/api/v1/sdk/token/introspect", 503, 1))
        self.assertEqual((first.error, first.duration_ms >= 0), ("ServerError", True))
        self.assertEqual((second.status, second.attempt, second.error, second.request_id), (200, 2, None, "req-2"))

    def test_paths(self) -> None:
        """a path in a record holds no Health ID, no id and no query"""
        cases: List[Any] = [
            ("patients.get_summary", (HEALTH_ID,), "/api/v1/sdk/patients/{health_id}/summary"),
            ("fhir.read", ("Patient", "abc"), "/api/fhir/R4/Patient/{id}"),
            ("fhir.search", ("Patient", {"name": "Ngo"}), "/api/fhir/R4/Patient"),
            ("fhir.conditions", (HEALTH_ID,), "/api/v1/sdk/patients/{health_id}/fhir/Condition"),
            ("webhooks.get", ("whs_1",), "/api/v1/connect/webhooks/subscriptions/{subscription_id}"),
            ("request", ("GET", f"/api/v1/x/{HEALTH_ID.lower()}?a=1"), "/api/v1/x/{health_id}"),
            ("request", ("GET", "/api/fhir/R4/Patient/abc/_history/2"), "/api/fhir/R4/Patient/{id}/_history/{id}"),
            ("request", ("GET", "/api/v1/sdk/patients/CM%2DTQYE%2D6SRK%2DYQ6S"), "/api/v1/sdk/patients/{health_id}"),
        ]
        for name, arguments, path in cases:
            (record,) = self.records(name, *arguments)
            self.assertEqual(record.path, path)

    def test_next_page(self) -> None:
        """the path of a next page holds no id either"""
        page = {"link": [{"relation": "next", "url": f"https://x.example/api/v1/sdk/patients/{HEALTH_ID}/fhir/Condition?c=1"}]}
        records: List[AttemptRecord] = []
        client = Runner(False).client(transport=Recorded(reply(200, page), reply(200, {})), logger=records.append)
        list(client.fhir.search_all("Condition"))
        self.assertEqual(records[-1].path, "/api/v1/sdk/patients/{health_id}/fhir/Condition")

    def test_throwing(self) -> None:
        """a logger that raises does not break the call"""
        client = Runner(False).client(transport=Recorded(), logger=mock.Mock(side_effect=RuntimeError))
        self.assertEqual(client.tokens.introspect(), {})


class Secret(unittest.TestCase):
    def test_texts(self) -> None:
        """no text of a client, request, record or error holds a secret, a token, a body or a Health ID"""
        records: List[AttemptRecord] = []
        transport = Recorded(reply(500, {"message": "It broke.", "error_code": "INTERNAL_ERROR"}))
        client = Runner(False).client(transport=transport, logger=records.append, user_agent="clinic/1")
        with self.assertRaises(ServerError) as raised:
            client.records.push_lab_result(_LAB)
        things = [client, client._engine.settings, raised.exception, transport.requests[0], *records]
        text = "".join(f"{thing!r} {thing}" for thing in things) + repr(raised.exception.args)
        self.assertEqual([secret for secret in _SECRETS if secret in text], [])
        self.assertIn("clinic/1", transport.requests[0].headers["User-Agent"])

    def test_options(self) -> None:
        """an option that is refused is not told"""
        with self.assertRaises(ValidationError) as raised:
            ServiceClient("id", ["secret-of-tests"], "local")  # type: ignore[arg-type]
        self.assertNotIn("secret-of-tests", str(raised.exception))


class Counted:
    """A lock that counts those who want it."""

    def __init__(self) -> None:
        self.waiting = threading.Semaphore(0)
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self.waiting.release()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Tokens(unittest.TestCase):
    def test_shared_failure(self) -> None:
        """threads that wait for the same refresh share its failure"""
        answers = [0]
        waiting = threading.Event()

        def transport(request: Request) -> Response:
            if not request.url.endswith("/auth/token"):
                return reply(200, {})
            answers[0] += 1
            if answers[0] == 1:
                return reply(200, {"access_token": "a", "expires_in": 3600})
            waiting.wait(5)
            return reply(400, {"error_code": "INVALID_SCOPE", "message": "No."})

        clock = Clock()
        kind = type("Kind", (ServiceClient,), {"_platform": clock.platform(False)})
        client = kind(**OPTIONS, base_url="https://x.example", transport=transport)
        clock.now += 3600
        client._driver._lock = lock = Counted()
        errors: List[Exception] = []

        def call() -> None:
            try:
                client.tokens.introspect()
            except ValidationError as error:
                errors.append(error)

        threads = [threading.Thread(target=call) for _ in range(5)]
        for thread in threads:
            thread.start()
        for _ in threads:
            lock.waiting.acquire(timeout=5)
        waiting.set()
        for thread in threads:
            thread.join()
        self.assertEqual((len(errors), answers[0]), (5, 2))

    def test_scopes(self) -> None:
        """scopes are sent joined by spaces; the token request has no key"""
        sent: List[Request] = []

        def transport(request: Request) -> Response:
            sent.append(request)
            return reply(200, {"access_token": "a", "expires_in": 3600})

        ServiceClient(**OPTIONS, base_url="https://x.example", transport=transport, scopes=["labs:read", "patients:read"])
        body = json.loads(sent[0].body or b"")
        self.assertEqual((body["scope"], body["grant_type"]), ("labs:read patients:read", "client_credentials"))
        self.assertNotIn("Idempotency-Key", sent[0].headers)

    def test_cancelled(self) -> None:
        """a call that is cancelled in the middle of a refresh leaves the client usable"""
        runner, clock, transport = Runner(True), Clock(), Recorded()
        client = runner.client(clock, transport)
        clock.now += 3600

        async def cancel() -> Any:
            task = asyncio.ensure_future(client.tokens.introspect())
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            return await client.tokens.introspect()

        self.assertEqual(runner.run(cancel()), {})
        runner.close()


class Contexts(unittest.TestCase):
    def test_contexts(self) -> None:
        """clients are context managers"""
        with Runner(False).client(transport=Recorded()) as client:
            self.assertEqual(client.tokens.introspect(), {})
        runner = Runner(True)

        made = runner.client(transport=Recorded())

        async def entered() -> Any:
            async with made as client:
                return await client.tokens.introspect()

        self.assertEqual(runner.run(entered()), {})
        runner.close()
