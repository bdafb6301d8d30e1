"""The access token of a client: fetched once for all calls, and renewed before it expires."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Tuple

from ._call import Call
from ._steps import Exclusive, Steps
from ._token_cache import EARLY, TokenStore, is_token
from .errors import ServiceError, TransportError

if TYPE_CHECKING:
    from ._engine import Engine

_PATH = "/api/v1/connect/auth/token"
_USUAL_LIFETIME = 3600.0


class _Token(NamedTuple):
    value: str
    renew_at: float


class Tokens:
    """Keeps the token. Calls that need a new one at the same time share one request for it, and its failure."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store = TokenStore(engine.settings)
        self._token: Optional[_Token] = None
        self._refused = False
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
            self._refused = True

    def _renew(self, seen: int) -> Steps[str]:
        token = self._token
        if token is not None and self._engine.platform.monotonic() < token.renew_at:
            return token.value
        if self._round != seen and self._failure is not None:
            raise self._failure
        kept = yield from self._kept()
        if kept is not None:
            return kept.value
        try:
            reply = yield from self._engine.call(self._request())
            token, lifetime = self._read(reply)
        except ServiceError as error:
            self._failure = error
            self._round += 1
            raise
        self._refused = False
        self._hold(token)
        yield from self._store.write(token.value, lifetime, self._engine.platform.unix_time())
        return token.value

    def _kept(self) -> Steps[Optional[_Token]]:
        """Return the token of the cache, unless it may be the one that the service refused."""
        if self._refused:
            return None
        platform = self._engine.platform
        kept = yield from self._store.read(platform.unix_time())
        return None if kept is None else self._hold(_Token(kept.value, platform.monotonic() + kept.usable))

    def _hold(self, token: _Token) -> _Token:
        self._token, self._failure = token, None
        self._round += 1
        return token

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

    def _read(self, reply: Any) -> Tuple[_Token, float]:
        """Read a token reply: token and lifetime, which counts from now, on a clock that nobody sets."""
        value = reply.get("access_token") if isinstance(reply, dict) else None
        if not isinstance(value, str) or not is_token(value):
            message = "The reply to the token request holds no token."
            raise TransportError(message, reason="invalid_response", attempts=1)
        lifetime = reply.get("expires_in")
        if not isinstance(lifetime, (int, float)) or isinstance(lifetime, bool):
            lifetime = _USUAL_LIFETIME
        usable = lifetime - EARLY if lifetime >= 2 * EARLY else lifetime / 2
        return _Token(value, self._engine.platform.monotonic() + usable), lifetime
