"""One call of a method: what is sent, before headers and tokens."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

from ._health_id import normalize
from ._log import redacted
from .errors import TransportError, ValidationError

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@dataclass
class Call:
    """A method, a target (path and query) and a body, with the options of the call."""

    method: str
    target: str
    label: str
    """The path for log records."""
    body: Optional[bytes] = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    token: bool = True
    """Whether the call carries a token."""


def prepare(
    method: str,
    template: str,
    options: Mapping[str, Any],
    path: Optional[Mapping[str, str]] = None,
    query: Optional[Mapping[str, Any]] = None,
    body: Any = None,
) -> Call:
    """Fill in a path template such as ``/api/fhir/R4/{type}``. A value named ``health_id!`` is normalised first."""
    target, label = template, template
    for name, value in (path or {}).items():
        key = name.rstrip("!")
        text = normalize(value) if name.endswith("!") else value
        place = "{" + key + "}"
        target = target.replace(place, _segment(key, text))
        if key == "type":
            label = label.replace(place, quote(text, safe=""))
    return Call(method, target + _query(query), label, _json(body), options)


def custom(method: str, path: str, options: Mapping[str, Any]) -> Call:
    """Make a call of a method and a path that the caller names."""
    if not isinstance(path, str) or not path.startswith("/") or path.startswith("//") or _CONTROL.search(path):
        raise _invalid("path must begin with one slash and hold no spaces, such as /api/v1/connect/consent-types.")
    if not isinstance(method, str) or not method.isalpha():
        raise _invalid("method must be a method of HTTP, such as GET.")
    rest = dict(options)
    query, body = _query(rest.pop("query", None)), _json(rest.pop("body", None))
    if query and "?" in path:
        query = "&" + query[1:]
    return Call(method.upper(), quote(path, safe=_SAFE) + query, redacted(path), body, rest)


def following(link: str, base_url: str, options: Mapping[str, Any]) -> Call:
    """Make the call of a ``next`` link: its path and query count, on the client's own base URL."""
    try:
        parts = urlsplit(urljoin(base_url + "/", link))
        path, query = parts.path, parts.query
    except (TypeError, ValueError):
        path, query = "", ""
    segments = unquote(path).replace("\\", "/").split("/")
    if not path.startswith("/api/") or ".." in segments or "." in segments or _CONTROL.search(path + query):
        raise TransportError(
            "The link to the next page leads outside of the interface of the service.", reason="invalid_response"
        )
    target = path + ("?" + query if query else "")
    return Call("GET", quote(target, safe=_SAFE), redacted(path), None, options)


_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_SAFE = "/?#[]@!$&'()*+,;=:%~"


def _segment(name: str, value: Any) -> str:
    """Percent-encode a path parameter. Empty, it would be another path, as would dots."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise _invalid(f"{name} must be text, and not empty.")
    return _encoded(name, value)


def _encoded(name: str, value: str) -> str:
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise _invalid(f"{name} holds characters that are no Unicode text.") from None


def _query(parameters: Optional[Mapping[str, Any]]) -> str:
    if not parameters:
        return ""
    pairs = [(name, text) for name, value in parameters.items() for text in _texts(value)]
    try:
        return "?" + urlencode(pairs, quote_via=quote, safe="") if pairs else ""
    except UnicodeEncodeError:
        raise _invalid("A query parameter holds characters that are no Unicode text.") from None


def _texts(value: Any) -> List[str]:
    if value is None:
        return []
    if isinstance(value, (list, tuple, set, frozenset)):
        return [text for each in value for text in _texts(each)]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    return [str(value)]


def _json(body: Any) -> Optional[bytes]:
    if body is None:
        return None
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        raise _invalid("The body holds NaN, an infinity, a cycle or characters that are no Unicode text.") from None


def fields(**values: Any) -> Dict[str, Any]:
    """Return the fields of a body that are given."""
    return {name: value for name, value in values.items() if value is not None}


def _invalid(message: str) -> ValidationError:
    return ValidationError(message, error_code="INVALID_ARGUMENT")


def matches(bundle: Mapping[str, Any]) -> List[Any]:
    """Return the resources of a Bundle that match the search, in order; not those that were included."""
    return [
        entry["resource"]
        for entry in bundle.get("entry") or ()
        if "resource" in entry and (entry.get("search") or {}).get("mode", "match") == "match"
    ]


def next_link(bundle: Mapping[str, Any]) -> Optional[str]:
    """Return the link to the page after this one."""
    for link in bundle.get("link") or ():
        if link.get("relation") == "next":
            url: Optional[str] = link.get("url")
            return url
    return None


def entries(page: Mapping[str, Any], place: str) -> List[Any]:
    """Return the entries of a page of a list, at a place such as ``data`` or ``data.vitals``."""
    found: Any = page
    for name in place.split("."):
        found = found.get(name) or {}
    return list(found)


def checked_place(place: str) -> str:
    """Return the place of a list's entries; records of all types at once have no one place."""
    if place in ("data.all", "data.None", "data."):
        raise _invalid("type must be one type of records.")
    return place
