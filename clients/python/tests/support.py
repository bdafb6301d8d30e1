"""What the tests share: vectors, a clock that nobody waits for, clients of both kinds, calls by the names of the contract."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import health_interop
from health_interop import AsyncServiceClient, Request, Response, ServiceClient
from health_interop._engine import Platform

ROOT = Path(__file__).parents[3]
CLIENTS = ROOT / "clients"
HEALTH_ID = "CM-TQYE-6SRK-YQ6S"
OPTIONS = {"client_id": "client", "client_secret": "secret-of-tests", "environment": "local"}


def vectors(name: str) -> Any:
    """Return the vectors of a file of clients/vectors."""
    return json.loads((CLIENTS / "vectors" / f"{name}.json").read_text("utf-8"))


def each(cases: List[Dict[str, Any]], prefix: str = "") -> Callable[[type], type]:
    """Give a class one test for each vector; the class states `check(vector)`."""

    def decorate(case: type) -> type:
        for index, vector in enumerate(cases):

            def run(self: Any, vector: Dict[str, Any] = vector) -> None:
                self.check(vector)

            run.__doc__ = prefix + vector["name"]
            setattr(case, f"test_{index:03}", run)
        return case

    return decorate


def snake(name: str) -> str:
    """Return a camelCase name in snake_case."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)


class Clock:
    """A clock, a sleep and a random number of the test's own."""

    def __init__(self, unix_time: float = 1_800_000_000) -> None:
        self.now = 1000.0
        self.began = unix_time - self.now
        self.waits: List[float] = []

    def platform(self, asynchronous: bool) -> Platform:
        """Return the platform of a client."""

        def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        async def sleep_later(seconds: float) -> None:
            self.waits.append(seconds)

        chosen: Any = sleep_later if asynchronous else sleep
        times = {"monotonic": lambda: self.now, "unix_time": lambda: self.now + self.began}
        return Platform(sleep=chosen, random=lambda: 1.0, **times)


class Recorded:
    """A transport that gives tokens and then these responses; the last one repeats."""

    def __init__(self, *responses: Response) -> None:
        self.requests: List[Request] = []
        self._responses = list(responses) or [reply(200, {})]
        self._next = 0

    def answer(self, request: Request) -> Response:
        """Return the next response, and keep the request unless it is for a token."""
        if request.url.endswith("/auth/token"):
            return reply(200, {"access_token": "token-1", "token_type": "Bearer", "expires_in": 3600})
        self.requests.append(request)
        self._next += 1
        return self._responses[min(self._next, len(self._responses)) - 1]

    async def answer_later(self, request: Request) -> Response:
        """The same for AsyncServiceClient."""
        await asyncio.sleep(0)
        return self.answer(request)


def reply(status: int, body: Any = None, headers: Optional[Dict[str, str]] = None) -> Response:
    """Return a response with a JSON body."""
    return Response(status, headers or {}, b"" if body is None else json.dumps(body).encode())


class Runner:
    """Makes clients of one kind and calls their methods, whether they block or are awaited."""

    def __init__(self, asynchronous: bool) -> None:
        self.asynchronous = asynchronous
        self._loop = asyncio.new_event_loop() if asynchronous else None

    def client(self, clock: Optional[Clock] = None, transport: Optional[Recorded] = None, **options: Any) -> Any:
        """Return a client that has its token."""
        base: Any = AsyncServiceClient if self.asynchronous else ServiceClient
        kind = type(base.__name__, (base,), {"_platform": (clock or Clock()).platform(self.asynchronous)})
        if transport is not None:
            options["transport"] = transport.answer_later if self.asynchronous else transport.answer
            options.setdefault("base_url", "https://hie.example.org")
        given = {**OPTIONS, **options}
        return self.run(kind.create(**given)) if self.asynchronous else kind(**given)

    def run(self, result: Any) -> Any:
        """Return a result: awaited, and a list where it is an iterator."""
        if inspect.isasyncgen(result):
            return self.run(_all(result))
        if inspect.iscoroutine(result):
            assert self._loop is not None
            return self._loop.run_until_complete(result)
        return list(result) if inspect.isgenerator(result) else result

    def call(self, client: Any, name: str, arguments: Dict[str, Any], options: Optional[Dict[str, Any]] = None) -> Any:
        """Call a method by its name in the contract and return its result."""
        return self.run(self.start(client, name, arguments, options))

    def start(self, client: Any, name: str, arguments: Dict[str, Any], options: Optional[Dict[str, Any]] = None) -> Any:
        """Call a method by its name in the contract."""
        target = client
        for part in name.split("."):
            target = getattr(target, snake(part))
        given = {**arguments, **(options or {})}
        return target(**{snake(key): value for key, value in given.items()})

    def close(self, *clients: Any) -> None:
        """Close the clients, and the event loop."""
        for client in clients:
            self.run(client.close())
        if self._loop is not None:
            self._loop.close()


async def _all(iterator: Any) -> List[Any]:
    return [item async for item in iterator]


def parse_url(url: str) -> Tuple[str, str]:
    """Return path and query of a URL."""
    path, _, query = url.partition("://")[2].partition("/")[2].partition("?")
    return "/" + path, query


def error_class(name: str) -> Any:
    """Return an error class by its name in the contract."""
    return getattr(health_interop, name)
