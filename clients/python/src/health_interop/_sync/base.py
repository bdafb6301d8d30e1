"""What all modules of ServiceClient share: send a call, read pages."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping, Optional

from .._call import Call, checked_place, entries, following, matches, next_link, prepare
from .._engine import Engine
from .._steps import Driver


class Module:
    """A module of a client."""

    __slots__ = ("_driver", "_engine")

    def __init__(self, engine: Engine, driver: Driver) -> None:
        self._engine = engine
        self._driver = driver

    def _call(self, call: Call) -> Any:
        return self._driver.run(self._engine.call(call))

    def _send(
        self,
        method: str,
        template: str,
        options: Mapping[str, Any],
        path: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
    ) -> Any:
        return self._call(prepare(method, template, options, path, query, body))

    def _iterate(self, bundle: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[Any]:
        page = bundle
        while True:
            yield from matches(page)
            link = next_link(page)
            if link is None:
                return
            page = self._call(following(link, self._engine.settings.base_url, options))

    def _iterate_from(self, fetch: Callable[[], Mapping[str, Any]], options: Mapping[str, Any]) -> Iterator[Any]:
        yield from self._iterate(fetch(), options)

    def _pages(
        self, place: str, fetch: Callable[[Optional[str]], Mapping[str, Any]], cursor: Optional[str]
    ) -> Iterator[Any]:
        return self._entries(checked_place(place), fetch, cursor)

    def _entries(
        self, place: str, fetch: Callable[[Optional[str]], Mapping[str, Any]], cursor: Optional[str]
    ) -> Iterator[Any]:
        while True:
            page = fetch(cursor)
            yield from entries(page, place)
            cursor = page.get("next_cursor")
            if not page.get("has_more") or cursor is None:
                return
