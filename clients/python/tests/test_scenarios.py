"""Conversations with the scripted server, for both clients. SCRIPTED_SERVER is the address of its control."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import unittest
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, Optional

from .support import Clock, Runner, each, error_class, snake, vectors

_CONTROL = os.environ.get("SCRIPTED_SERVER")
_SCENARIOS = vectors("scenarios")["scenarios"]
_TOKEN = "/api/v1/connect/auth/token"


def control(url: str, method: str = "GET", body: Optional[bytes] = None) -> Any:
    """Ask the control of the scripted server."""
    with urllib.request.urlopen(urllib.request.Request(url, body, method=method), timeout=10) as reply:
        return json.load(reply)


@unittest.skipIf(_CONTROL is None, "SCRIPTED_SERVER is not set")
class _Scenario(unittest.TestCase):
    asynchronous = False

    def check(self, scenario: Dict[str, Any]) -> None:
        opened = control(f"{_CONTROL}/scenarios/{scenario['id']}", "POST", b"")
        runner, clock = Runner(self.asynchronous), Clock()
        expected = scenario["expected"]
        client: Any = None
        try:
            client = runner.client(clock, base_url=opened["url"])
            results = [self._call(runner, client, clock, call, scenario.get("concurrent")) for call in scenario["calls"]]
            self.assertNotIn("error", expected)
            self.assertEqual(results, [expected["result"]] * len(results))
            self._last_response(client, expected.get("lastResponse"))
        except Exception as error:
            if isinstance(error, AssertionError) or "error" not in expected:
                raise
            self._error(error, expected["error"])
        finally:
            runner.close(*([client] if client is not None else []))
        self.assertEqual(clock.waits, expected["waits"])
        self._received(control(opened["received"]), expected)

    def _call(self, runner: Runner, client: Any, clock: Clock, call: Dict[str, Any], concurrent: Optional[int]) -> Any:
        clock.now += call.get("advance", 0)
        arguments = (client, call["call"], call["arguments"], call.get("options"))
        if concurrent is None:
            return runner.call(*arguments)
        if self.asynchronous:

            async def together() -> List[Any]:
                return list(await asyncio.gather(*[runner.start(*arguments) for _ in range(concurrent)]))

            results = runner.run(together())
        else:
            with ThreadPoolExecutor(concurrent) as pool:
                results = list(pool.map(lambda _: runner.call(*arguments), range(concurrent)))
        self.assertEqual(results, results[:1] * concurrent)
        return results[0]

    def _error(self, error: Any, expected: Dict[str, Any]) -> None:
        self.assertIs(type(error), error_class(expected["class"]), repr(error))
        facts = {name: value for name, value in expected.items() if name != "class"}
        self.assertEqual({name: getattr(error, snake(name)) for name in facts}, facts)
        self.assertNotIn("secret-of-tests", str(error) + repr(error))
        self.assertNotIn("secret page", str(error) + repr(error))

    def _last_response(self, client: Any, expected: Optional[Dict[str, Any]]) -> None:
        if expected is not None:
            self.assertEqual({name: getattr(client.last_response, name) for name in expected}, expected)

    def _received(self, received: List[Dict[str, Any]], expected: Dict[str, Any]) -> None:
        calls = [each for each in received if each["path"] != _TOKEN]
        if expected["requests"] is not None:
            self.assertEqual([f"{each['method']} {each['path']}" for each in received], expected["requests"])
        tokens = [each["headers"]["authorization"].replace("Bearer ", "") for each in calls]
        self.assertEqual(tokens, expected.get("tokens", tokens))
        keys = {each["headers"].get("idempotency-key") for each in calls}
        if "sameKey" in expected:
            self.assertEqual(len(keys) == 1, expected["sameKey"])
        if "bodies" in expected:
            self.assertEqual([json.loads(each["body"]) for each in calls], expected["bodies"])
        self.assertEqual(len(received) - len(calls), expected.get("tokenRequests", len(received) - len(calls)))


@each(_SCENARIOS, "scenario: ")
class Scenarios(_Scenario):
    pass


@unittest.skipIf(importlib.util.find_spec("httpx") is None, "httpx is not installed")
@each(_SCENARIOS, "async, scenario: ")
class AsyncScenarios(_Scenario):
    asynchronous = True


del _Scenario
