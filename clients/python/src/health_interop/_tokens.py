"""The access token of a client: fetched once for all calls, and renewed before it expires."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from ._call import Call
from ._steps import Exclusive, Steps
from .errors import ServiceError, TransportError

if TYPE_CHECKING:
    from ._engine import Engine

_PATH = "/api/v1/connect/auth/token"
_EARLY = 60.0
_USUAL_LIFETIME = 3600.0


class _Token(NamedTuple):
    value: str
    renew_at: float


class Tokens:
    """Keeps the token. Calls that need a new one at the same time share one request for it, and its failure."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._token: Optional[_Token] = None
        self._round = 0
        self._failure: Optional[ServiceError] = None

    def current(self) -> Steps[str]:
        """Return a token that is good for at least the next moments."""
        token = self._token
        if token is not None and self._engine.platform.monotonic() < token.renew_at:
            return token.value
        seen = self._round
        value: str = yield Exclusive(lambda: self._renew(seen))
        return value

    def discard(self, value: str) -> None:
        """Forget a token that the service refused, unless another call has renewed it already."""
        token = self._token
        if token is not None and token.value == value:
            self._token = None

    def _renew(self, seen: int) -> Steps[str]:
        token = self._token
        if token is not None and self._engine.platform.monotonic() < token.renew_at:
            return token.value
        if self._round != seen and self._failure is not None:
            raise self._failure
        try:
            reply = yield from self._engine.call(self._request())
            token = self._read(reply)
        except ServiceError as error:
            self._failure = error
            self._round += 1
            raise
        self._token, self._failure = token, None
        self._round += 1
        return token.value

    def _request(self) -> Call:
        settings = self._engine.settings
        body = {
            "grant_type": "client_credentials",
            "client_id": settings.client_id,
            "client_secret": settings.client_secret,
        }
        if settings.scopes:
            body["scope"] = " ".join(settings.scopes)
        return Call("POST", _PATH, _PATH, json.dumps(body, ensure_ascii=False).encode(), token=False)

    def _read(self, reply: Any) -> _Token:
        """Read a token reply. The lifetime counts from now, on a clock that nobody sets."""
        value = reply.get("access_token") if isinstance(reply, dict) else None
        if not isinstance(value, str) or not value.isascii() or not value.isprintable() or not value:
            message = "The reply to the token request holds no token."
            raise TransportError(message, reason="invalid_response", attempts=1)
        lifetime = reply.get("expires_in")
        if not isinstance(lifetime, (int, float)) or isinstance(lifetime, bool):
            lifetime = _USUAL_LIFETIME
        usable = lifetime - _EARLY if lifetime >= 2 * _EARLY else lifetime / 2
        return _Token(value, self._engine.platform.monotonic() + usable)
