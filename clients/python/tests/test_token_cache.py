"""A token cache: one token for the processes that start one after the other, with both clients."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import unittest
from typing import Any, Dict, List, Optional, Tuple
from unittest import mock

from health_interop import Request, Response, ServiceClient, ValidationError
from health_interop._async import driver

from .support import OPTIONS, Clock, Runner, each, reply, snake, vectors
from .test_scenarios import control

_CONTROL = os.environ.get("SCRIPTED_SERVER")
_VECTORS = vectors("token-cache")
_NOW = 1_800_000_000
_KEPT = json.dumps({"access_token": "kept-1", "expires_at": _NOW + 3600})
_REFUSED = {"status": 401, "body": {"error_code": "TOKEN_EXPIRED", "message": "No."}}


class Memory:
    """A cache that remembers what was set; `first` stands under every other key."""

    def __init__(self, first: Any = None) -> None:
        self.entries: Dict[str, str] = {}
        self.sets: List[Tuple[str, str, int]] = []
        self.gets = 0
        self._first = first

    def get(self, key: str) -> Any:
        self.gets += 1
        return self.entries.get(key, self._first)

    def set(self, key: str, value: str, seconds: int) -> None:
        self.entries[key] = value
        self.sets.append((key, value, seconds))


class Later:
    """The same, to be awaited."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def get(self, key: str) -> Any:
        await asyncio.sleep(0)
        return self._memory.get(key)

    async def set(self, key: str, value: str, seconds: int) -> None:
        await asyncio.sleep(0)
        self._memory.set(key, value, seconds)


class Tokens:
    """A transport that gives tokens of this lifetime and keeps those it receives: None is a request for one."""

    def __init__(self, expires_in: int = 3600) -> None:
        self.received: List[Optional[str]] = []
        self._expires_in = expires_in

    def answer(self, request: Request) -> Response:
        self.received.append(request.headers.get("Authorization", "").replace("Bearer ", "") or None)
        return reply(200, {"access_token": f"token-{self.received.count(None)}", "expires_in": self._expires_in})

    async def answer_later(self, request: Request) -> Response:
        return self.answer(request)


class _Case(unittest.TestCase):
    asynchronous = False

    def setUp(self) -> None:
        self.runner = Runner(self.asynchronous)
        self.addCleanup(self.runner.close)

    def use(self, cache: Any, transport: Any = None, now: float = _NOW, **options: Any) -> List[Optional[str]]:
        """Make a client that calls the service once, and return the tokens that arrived."""
        transport = transport or Tokens()
        client = self.runner.client(Clock(now), transport, token_cache=cache, **options)
        self.runner.call(client, "tokens.introspect", {})
        self.runner.run(client.close())
        received: List[Optional[str]] = transport.received
        return received


class Keys(_Case):
    def check(self, vector: Dict[str, Any]) -> None:
        memory = Memory()
        self.use(memory, **{snake(name): value for name, value in vector["options"].items()})
        self.assertEqual([key for key, _, _ in memory.sets], [vector["key"]])


class Values(_Case):
    def check(self, vector: Dict[str, Any]) -> None:
        expected = [None, "token-1"] if vector["token"] is None else [vector["token"]]
        self.assertEqual(self.use(Memory(vector["value"])), expected)
        as_bytes = None if vector["value"] is None else vector["value"].encode()
        self.assertEqual(self.use(Memory(as_bytes)), expected)


class Writes(_Case):
    def check(self, vector: Dict[str, Any]) -> None:
        memory = Memory()
        self.use(memory, Tokens(vector["expiresIn"]), vector["now"])
        kept = [(json.loads(value), seconds) for _, value, seconds in memory.sets]
        self.assertEqual(kept, [] if vector["value"] is None else [(vector["value"], vector["seconds"])])


class Caches(_Case):
    def test_shared(self) -> None:
        """two clients one after the other make one token request"""
        memory, transport = Memory(), Tokens()
        self.use(memory, transport)
        self.assertEqual(self.use(memory, transport), [None, "token-1", "token-1"])

    def test_others(self) -> None:
        """a client of another secret, id or scopes does not use the token"""
        for options in ({"client_secret": "rotated"}, {"client_id": "other"}, {"scopes": ["patients:read"]}):
            memory, transport = Memory(), Tokens()
            self.use(memory, transport)
            self.assertEqual(self.use(memory, transport, **options), [None, "token-1", None, "token-2"])

    def test_renewal(self) -> None:
        """a token is renewed 60 seconds before it expires, with the one that another process has kept"""
        memory, transport, clock = Memory(_KEPT), Tokens(), Clock(_NOW)
        client = self.runner.client(clock, transport, token_cache=memory)
        clock.now += 3539
        self.runner.call(client, "tokens.introspect", {})
        clock.now += 1
        other = Memory()
        self.use(other, transport, _NOW + 3540)
        memory.entries = other.entries
        self.runner.call(client, "tokens.introspect", {})
        self.assertEqual(transport.received, ["kept-1", None, "token-1", "token-1"])

    def test_broken(self) -> None:
        """a cache that raises or answers nonsense does not break a call"""
        for name in ("get", "set"):
            cache: Any = Memory()
            setattr(cache, name, mock.Mock(side_effect=RuntimeError))
            self.assertEqual(self.use(cache), [None, "token-1"])
        for nonsense in (1, ["kept-1"], b"\xff"):
            self.assertEqual(self.use(Memory(nonsense)), [None, "token-1"])

    def test_refused_options(self) -> None:
        """what has no get and set is no token cache"""
        for cache in ("redis", object(), mock.Mock(spec=["get"])):
            with self.assertRaises(ValidationError) as raised:
                self.use(cache)
            self.assertEqual(raised.exception.error_code, "INVALID_OPTION")

    def test_told(self) -> None:
        """no text of a client shows its cache"""
        client = self.runner.client(Clock(), Tokens(), token_cache=Memory(_KEPT))
        self.assertNotIn("Memory", f"{client!r}{client._engine.settings!r}")


@unittest.skipIf(_CONTROL is None, "SCRIPTED_SERVER is not set")
class Conversations(_Case):
    def received(self, script: Dict[str, Any], memory: Memory, clients: int) -> List[Optional[str]]:
        """Return the tokens that arrive as clients are made, each with one call."""
        opened = control(f"{_CONTROL}/scripts", "POST", json.dumps(script).encode())
        for _ in range(clients):
            client = self.runner.client(Clock(_NOW), base_url=opened["url"], token_cache=memory)
            try:
                self.runner.call(client, "tokens.introspect", {})
            except ValidationError:
                self.runner.call(client, "tokens.introspect", {})
            finally:
                self.runner.run(client.close())
        headers = [each["headers"].get("authorization") for each in control(opened["received"])]
        return [header and header.replace("Bearer ", "") for header in headers]

    def test_conversation(self) -> None:
        """two clients one after the other make one token request of the server"""
        script = {"replies": [{"status": 200, "body": {}}]}
        self.assertEqual(self.received(script, Memory(), 2), [None, "token-1", "token-1"])

    def test_refused(self) -> None:
        """a token of the cache that the service refuses is replaced, and the next client has the new one"""
        script = {"byToken": {"kept-1": _REFUSED}, "replies": [{"status": 200, "body": {}}]}
        self.assertEqual(self.received(script, Memory(_KEPT), 2), ["kept-1", None, "token-1", "token-1"])

    def test_not_read_back(self) -> None:
        """a token of the cache that the service refused is not read back while there is no other"""
        failed = {"status": 400, "body": {"error_code": "INVALID_SCOPE", "message": "No."}}
        script = {"tokenReplies": [failed, None], "byToken": {"kept-1": _REFUSED}, "replies": [{"status": 200, "body": {}}]}
        self.assertEqual(self.received(script, Memory(_KEPT), 1), ["kept-1", None, None, "token-1"])


class Awaited(_Case):
    asynchronous = True

    def test_awaited(self) -> None:
        """methods that are awaited do as well"""
        memory, transport = Memory(), Tokens()
        self.use(Later(memory), transport)
        self.assertEqual(self.use(Later(memory), transport), [None, "token-1", "token-1"])

    def test_endless(self) -> None:
        """a cache that never answers is not waited for"""

        async def never(*_: Any) -> Any:
            await asyncio.Event().wait()

        for name in ("get", "set"):
            cache: Any = Later(Memory())
            setattr(cache, name, never)
            with mock.patch.object(driver, "_PATIENCE", 0.01):
                self.assertEqual(self.use(cache), [None, "token-1"])

    def test_together(self) -> None:
        """calls that wait for a token read the cache once"""
        memory, transport, clock = Memory(), Tokens(), Clock(_NOW)
        client = self.runner.client(clock, transport, token_cache=Later(memory))
        clock.now += 3600

        async def together() -> None:
            await asyncio.gather(*[client.tokens.introspect() for _ in range(20)])

        self.runner.run(together())
        self.assertEqual((memory.gets, transport.received.count(None)), (2, 2))


def _both(case: type, cases: Optional[List[Dict[str, Any]]] = None, prefix: str = "") -> None:
    """Add a case for each client, with a test for each vector."""
    for asynchronous in (False, True):
        kind = type(("Async" if asynchronous else "") + case.__name__, (case,), {"asynchronous": asynchronous})
        kind.__module__ = __name__
        globals()[kind.__name__] = kind if cases is None else each(cases, ("async, " if asynchronous else "") + prefix)(kind)


_both(Keys, _VECTORS["keys"], "key of a token cache: ")
_both(Values, _VECTORS["values"], "in a token cache: ")
_both(Writes, _VECTORS["writes"], "kept in a token cache: ")
_both(Caches)
if importlib.util.find_spec("httpx") is not None:
    _both(Conversations)
del _Case
