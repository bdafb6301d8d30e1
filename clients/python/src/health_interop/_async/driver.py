"""The driver of AsyncServiceClient."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Optional, TypeVar

from .._steps import Ask, Effect, Exclusive, Send, Steps
from ..transport import AsyncTransport

T = TypeVar("T")

_PATIENCE = 1.0
"""Seconds that a call waits for the token cache."""


class AsyncDriver:
    """Carries out steps and awaits."""

    def __init__(self, transport: AsyncTransport, sleep: Callable[[float], Awaitable[object]]) -> None:
        self._transport = transport
        self._sleep = sleep
        self._lock: Optional[asyncio.Lock] = None

    async def run(self, steps: Steps[T]) -> T:
        """Return the result of the steps, or raise what they raise."""
        try:
            effect = next(steps)
            while True:
                try:
                    outcome = await self._do(effect)
                except BaseException as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(outcome)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _do(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return await self._transport(effect.request)
        if isinstance(effect, Exclusive):
            if self._lock is None:
                self._lock = asyncio.Lock()
            async with self._lock:
                return await self.run(effect.steps())
        if isinstance(effect, Ask):
            answer = effect.question()
            return await asyncio.wait_for(answer, _PATIENCE) if hasattr(answer, "__await__") else answer
        return await self._sleep(effect.seconds)
