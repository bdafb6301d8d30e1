"""What is known of a response beside its body: status, request id, rate limit, retries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional

_PARAMETERS = r'((?:\s*;\s*[a-z*][a-z0-9_.*-]*(?:=(?:"[^"]*"|[^;,"]*))?)*)'
_ITEM = re.compile(r'\s*"([^"]*)"' + _PARAMETERS, re.ASCII)
_PARAMETER = re.compile(r';\s*([a-z*][a-z0-9_.*-]*)=(?:"[^"]*"|([0-9]{1,15})(?=\s*(?:;|$)))', re.ASCII)


@dataclass(frozen=True)
class RateLimit:
    """The rate limit of a client, as a response states it."""

    limit: Optional[int]
    """Requests in one window."""
    remaining: int
    """Requests left in this window."""
    reset: Optional[int]
    """Seconds until the window ends."""


class ResponseInfo:
    """What is known of a response beside its body."""

    __slots__ = ("_headers", "retries", "status")

    def __init__(self, status: int, headers: Mapping[str, str], retries: int) -> None:
        self.status = status
        """The HTTP status."""
        self.retries = retries
        """How often the call was retried."""
        self._headers = headers

    @property
    def request_id(self) -> Optional[str]:
        """The id of the request, for support."""
        return self._headers.get("x-request-id")

    @property
    def rate_limit(self) -> Optional[RateLimit]:
        """The rate limit, or None if the response states none."""
        return rate_limit_of(self._headers)

    @property
    def replayed(self) -> bool:
        """True if the service answered with the saved reply of an earlier request."""
        return self._headers.get("idempotent-replayed") == "true"

    def __repr__(self) -> str:
        return f"ResponseInfo(status={self.status}, request_id={self.request_id!r}, retries={self.retries})"


class Result(Dict[str, Any]):
    """A JSON object as a dict that remembers its response."""

    __slots__ = ("_response",)
    _response: ResponseInfo

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def response_of(result: object) -> Optional[ResponseInfo]:
    """Return what is known of the response that this result came with, or None if it is not a result of a call."""
    return getattr(result, "_response", None) if isinstance(result, Result) else None


def rate_limit_of(headers: Mapping[str, str]) -> Optional[RateLimit]:
    """Read ``RateLimit`` and ``RateLimit-Policy``; the first item of ``RateLimit`` counts."""
    found = _ITEM.match(headers.get("ratelimit", ""))
    if found is None:
        return None
    name, values = found[1], _parameters(found[2])
    if "r" not in values:
        return None
    limit = None
    for policy in _ITEM.finditer(headers.get("ratelimit-policy", "")):
        if policy[1] == name:
            limit = _parameters(policy[2]).get("q")
            break
    return RateLimit(limit=limit, remaining=values["r"], reset=values.get("t"))


def _parameters(text: str) -> Dict[str, int]:
    return {name: int(value) for name, value in _PARAMETER.findall(text) if value}
