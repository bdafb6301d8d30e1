"""Log records: one per attempt, without anything about a patient."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional
from urllib.parse import unquote

from ._health_id import is_health_id

_RESOURCE = re.compile(r"(?<=/api/fhir/R4/)([A-Z][A-Za-z]+)/[^/$_][^/]*")
_KNOWN = frozenset(("v1", "R4"))


@dataclass(frozen=True)
class AttemptRecord:
    """One attempt to send a request."""

    method: str
    path: str
    """The path without query; a Health ID and ids in it are replaced by placeholders."""
    status: Optional[int]
    """The status of the response, or None without one."""
    request_id: Optional[str]
    attempt: int
    """The number of the attempt, from 1."""
    duration_ms: float
    error: Optional[str]
    """The name of the error's class, or None."""


def redacted(path: str) -> str:
    """Return a path with placeholders for a Health ID and for ids."""
    path = _RESOURCE.sub(r"\1/{id}", path.partition("?")[0])
    return "/".join(_segment(segment) for segment in path.split("/"))


def _segment(segment: str) -> str:
    if segment in _KNOWN or not any(letter.isdigit() for letter in segment):
        return segment
    return "{health_id}" if is_health_id(unquote(segment)) else "{id}"
