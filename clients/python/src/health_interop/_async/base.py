"""What all modules of AsyncServiceClient share: send a call, read pages."""

from __future__ import annotations

from typing import Any, AsyncIterator, Awaitable, Callable, Mapping, Optional

from .._call import Call, checked_place, entries, following, matches, next_link, prepare
from .._engine import Engine
from .driver import AsyncDriver


class Module:
    """A module of a client."""

    __slots__ = ("_driver", "_engine")

    def __init__(self, engine: Engine, driver: AsyncDriver) -> None:
        self._engine = engine
        self._driver = driver

    async def _call(self, call: Call) -> Any:
        return await self._driver.run(self._engine.call(call))

    async def _send(
        self,
        method: str,
        template: str,
        options: Mapping[str, Any],
        path: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
    ) -> Any:
        return await self._call(prepare(method, template, options, path, query, body))

    async def _iterate(self, bundle: Mapping[str, Any], options: Mapping[str, Any]) -> AsyncIterator[Any]:
        page = bundle
        while True:
            for resource in matches(page):
                yield resource
            link = next_link(page)
            if link is None:
                return
            page = await self._call(following(link, self._engine.settings.base_url, options))

    async def _iterate_from(
        self, fetch: Callable[[], Awaitable[Mapping[str, Any]]], options: Mapping[str, Any]
    ) -> AsyncIterator[Any]:
        async for resource in self._iterate(await fetch(), options):
            yield resource

    def _pages(
        self, place: str, fetch: Callable[[Optional[str]], Awaitable[Mapping[str, Any]]], cursor: Optional[str]
    ) -> AsyncIterator[Any]:
        return self._entries(checked_place(place), fetch, cursor)

    async def _entries(
        self, place: str, fetch: Callable[[Optional[str]], Awaitable[Mapping[str, Any]]], cursor: Optional[str]
    ) -> AsyncIterator[Any]:
        while True:
            page = await fetch(cursor)
            for entry in entries(page, place):
                yield entry
            cursor = page.get("next_cursor")
            if not page.get("has_more") or cursor is None:
                return
