"""The options of a client and of one call, checked before any request."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, TypedDict, Union
from urllib.parse import urlsplit

from ._version import __version__
from .errors import ValidationError

if TYPE_CHECKING:
    from ._log import AttemptRecord
    from ._token_cache import AsyncTokenCache, TokenCache

Logger = Callable[["AttemptRecord"], object]

_ENVIRONMENTS = ("local", "sandbox", "production")
_LOCAL = "http://127.0.0.1:8080"
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_GOOD = {
    "idempotency_key": re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?"),
    "request_id": re.compile(r"[A-Za-z0-9._-]{8,128}"),
    "emergency_reason": re.compile(r"(?=.*\S)[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+"),
}
_FAULTS = {
    "idempotency_key": "idempotency_key must be one line of ASCII characters.",
    "request_id": "request_id must be 8 to 128 characters of A-Z, a-z, 0-9, point, underscore and hyphen.",
    "emergency_reason": "emergency_reason must be one line of text.",
}
_MOST_RETRIES = 10


class CallOptions(TypedDict, total=False):
    """Options of one call, each a keyword argument of every method that sends a request."""

    timeout: float
    """Total seconds of one attempt, response body included."""
    max_retries: int
    """Retries after the first attempt, 0 to 10."""
    idempotency_key: str
    """The key of a POST; by default a new UUID."""
    request_id: str
    """The id of the request, for your logs and those of the service."""
    emergency_reason: str
    """Declares emergency access and states why. The service audits and reviews each use."""


class RequestOptions(CallOptions, total=False):
    """Options of :meth:`health_interop.ServiceClient.request`."""

    query: Mapping[str, Any]
    """Query parameters. None leaves one out, a list repeats it."""
    body: Any
    """The body, written as JSON."""


@dataclass(frozen=True)
class Settings:
    """The checked options of a client."""

    client_id: str
    client_secret: str = field(repr=False)
    environment: str
    base_url: str
    scopes: Optional[Sequence[str]]
    timeout: float
    connect_timeout: float
    max_retries: int
    max_retry_after: float
    user_agent: str
    logger: Optional[Logger] = field(repr=False)
    token_cache: Union[TokenCache, AsyncTokenCache, None] = field(repr=False)

    def describe(self, name: str) -> str:
        """Return the text of a client of this name, without its secret."""
        return f"{name}(client_id={self.client_id!r}, environment={self.environment!r}, base_url={self.base_url!r})"


def settings(
    *,
    client_id: str,
    client_secret: str,
    environment: str,
    base_url: Optional[str],
    scopes: Optional[Sequence[str]],
    timeout: float,
    connect_timeout: float,
    max_retries: int,
    max_retry_after: float,
    user_agent: Optional[str],
    transport: Optional[Callable[[Any], Any]],
    logger: Optional[Logger],
    token_cache: Union[TokenCache, AsyncTokenCache, None],
) -> Settings:
    """Check the options of a client. Raise ValidationError with ``error_code`` ``INVALID_OPTION``."""
    if environment not in _ENVIRONMENTS:
        raise _invalid("environment must be local, sandbox or production.")
    if transport is not None and not callable(transport):
        raise _invalid("transport must be a function that sends one request.")
    if logger is not None and not callable(logger):
        raise _invalid("logger must be a function that takes one record.")
    if token_cache is not None and not all(callable(getattr(token_cache, name, None)) for name in ("get", "set")):
        raise _invalid("token_cache must have the methods get and set.")
    return Settings(
        client_id=_text("client_id", client_id),
        client_secret=_text("client_secret", client_secret),
        environment=environment,
        base_url=_base_url(base_url, environment),
        scopes=_scopes(scopes),
        timeout=seconds("timeout", timeout),
        connect_timeout=seconds("connect_timeout", connect_timeout),
        max_retries=retries("max_retries", max_retries),
        max_retry_after=seconds("max_retry_after", max_retry_after, zero=True),
        user_agent=_user_agent(user_agent),
        logger=logger,
        token_cache=token_cache,
    )


def check_call(options: Mapping[str, Any]) -> None:
    """Check the options of one call. An unknown name raises TypeError, as a keyword argument does."""
    for name, value in options.items():
        if name not in CallOptions.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}")
        if value is None:
            continue
        if name == "timeout":
            seconds(name, value)
        elif name == "max_retries":
            retries(name, value)
        elif not isinstance(value, str) or not _GOOD[name].fullmatch(value):
            raise ValidationError(_FAULTS[name], error_code="INVALID_ARGUMENT")


def seconds(name: str, value: Any, *, zero: bool = False) -> float:
    """Return a duration in seconds, or raise."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not good or value < 0 or (value == 0 and not zero):
        raise _invalid(f"{name} must be a number of seconds above 0.")
    return float(value)


def retries(name: str, value: Any) -> int:
    """Return a number of retries, or raise."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_RETRIES:
        raise _invalid(f"{name} must be a whole number from 0 to {_MOST_RETRIES}.")
    return value


def _invalid(message: str) -> ValidationError:
    return ValidationError(message, error_code="INVALID_OPTION")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _invalid(f"{name} is required and must be text.")
    return value


def _header(name: str, value: str) -> str:
    """Return a value that goes into a header: one line, in characters that a header can hold."""
    if _PRINTABLE.fullmatch(value) is None:
        raise _invalid(f"{name} must be one line of ASCII characters.")
    return value


def _scopes(scopes: Any) -> Optional[Sequence[str]]:
    if scopes is None:
        return None
    if isinstance(scopes, str) or not all(isinstance(scope, str) and scope.split() == [scope] for scope in scopes):
        raise _invalid("scopes must be a list of scopes, such as ['patients:read'].")
    return tuple(scopes)


def _user_agent(text: Optional[str]) -> str:
    own = f"health-interop-python/{__version__}"
    if text is None:
        return own
    return f"{own} {_header('user_agent', _text('user_agent', text)).strip()}"


def _base_url(given: Optional[str], environment: str) -> str:
    url = given if given is not None else os.environ.get("HEALTH_INTEROP_BASE_URL") or None
    if url is None and environment == "local":
        url = _LOCAL
    if url is None:
        raise _invalid("base_url is required: the address of the service, or set HEALTH_INTEROP_BASE_URL.")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except (ValueError, AttributeError, TypeError):
        raise _invalid("base_url must be an address such as https://interop.example.org.") from None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or _unclean(url):
        raise _invalid("base_url must be an address such as https://interop.example.org.")
    if parts.path not in ("", "/") or parts.query or parts.fragment or "?" in url or "#" in url:
        raise _invalid("base_url must have no path and no query.")
    if parts.scheme == "http" and not _is_loopback(host):
        raise _invalid("base_url must begin with https: (http: is accepted for loopback addresses only).")
    return f"{parts.scheme}://{parts.netloc}"


def _unclean(url: str) -> bool:
    return any(letter <= " " or letter >= "\x7f" or letter == "\\" for letter in url)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


