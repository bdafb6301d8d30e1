"""What a transport is: a function that sends one request. For tests, proxies and adapters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Awaitable, Callable, Dict, Mapping, Optional

__all__ = ["AsyncTransport", "Request", "Response", "Transport"]


@dataclass
class Request:
    """One request, ready to be sent."""

    method: str
    url: str
    headers: Dict[str, str] = field(repr=False)
    body: Optional[bytes] = field(repr=False)
    timeout: float
    """Seconds for the whole attempt, response body included."""
    connect_timeout: float
    """Seconds to connect."""


@dataclass
class Response:
    """One response, read to its end."""

    status: int
    headers: Mapping[str, str]
    """Header values by name; the names are in lower case."""
    body: bytes = field(repr=False)


Transport = Callable[[Request], Response]
"""Sends a request and follows no redirect.

Raises TimeoutError after the timeout, any other OSError if the connection fails.
"""

AsyncTransport = Callable[[Request], Awaitable[Response]]
"""The same for :class:`health_interop.AsyncServiceClient`."""
