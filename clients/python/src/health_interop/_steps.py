"""Steps: the course of a call without I/O.

A step is a generator. It yields what has to be done (Send, Sleep, Ask, Exclusive) and receives the outcome. The drivers of
ServiceClient and AsyncServiceClient differ in how they do it, and in nothing else.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Generator, NamedTuple, TypeVar, Union

from .transport import Request, Transport

T = TypeVar("T")


class Send(NamedTuple):
    """Send this request; the outcome is its response."""

    request: Request


class Sleep(NamedTuple):
    """Wait."""

    seconds: float


class Ask(NamedTuple):
    """Ask the token cache; the outcome is its answer."""

    question: Callable[[], Any]


class Exclusive(NamedTuple):
    """Carry out these steps while no other call carries out its own; the outcome is their result."""

    steps: Callable[[], Generator[Any, Any, Any]]


Effect = Union[Send, Sleep, Ask, Exclusive]
Steps = Generator[Effect, Any, T]


class Driver:
    """Carries out steps and blocks the thread."""

    def __init__(self, transport: Transport, sleep: Callable[[float], object]) -> None:
        self._transport = transport
        self._sleep = sleep
        self._lock = threading.Lock()

    def run(self, steps: Steps[T]) -> T:
        """Return the result of the steps, or raise what they raise."""
        effect = None
        try:
            effect = next(steps)
            while True:
                try:
                    outcome = self._do(effect)
                except BaseException as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(outcome)
        except StopIteration as end:
            result: T = end.value
            return result

    def _do(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return self._transport(effect.request)
        if isinstance(effect, Exclusive):
            with self._lock:
                return self.run(effect.steps())
        if isinstance(effect, Ask):
            return effect.question()
        return self._sleep(effect.seconds)
