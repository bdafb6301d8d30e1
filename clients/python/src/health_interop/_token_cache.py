"""The token cache of the caller: a token outlives the process, so that the next one starts without a token request."""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any, Awaitable, NamedTuple, Optional, Protocol, Union

from ._steps import Ask, Steps

if TYPE_CHECKING:
    from ._options import Settings

__all__ = ["AsyncTokenCache", "TokenCache"]

EARLY = 60.0
"""Seconds before its expiry at which a token is renewed."""


class TokenCache(Protocol):
    """Keeps access tokens between processes. A token is a secret: keep the cache as private as the client secret.

    What a method raises is ignored. Give the cache a time limit of its own: a call waits for it.
    """

    def get(self, key: str, /) -> Union[str, bytes, None]:
        """Return the text that was set for this key, or None."""
        ...

    def set(self, key: str, value: str, seconds: int, /) -> object:
        """Keep a text for so many seconds."""
        ...


class AsyncTokenCache(Protocol):
    """The same for :class:`health_interop.AsyncServiceClient`, which waits for an answer for a second at most."""

    def get(self, key: str, /) -> Awaitable[Union[str, bytes, None]]:
        """Return the text that was set for this key, or None."""
        ...

    def set(self, key: str, value: str, seconds: int, /) -> Awaitable[object]:
        """Keep a text for so many seconds."""
        ...


class Kept(NamedTuple):
    """A token of the cache, and the seconds in which it need not be renewed."""

    value: str
    usable: float


class TokenStore:
    """The place of one client in a token cache."""

    def __init__(self, settings: Settings) -> None:
        self._cache = settings.token_cache
        self._settings = settings
        self._key: Optional[str] = None

    def read(self, now: float) -> Steps[Optional[Kept]]:
        """Return the token that is kept, or None if there is none of use at this Unix time."""
        cache = self._cache
        if cache is None:
            return None
        try:
            text = yield Ask(lambda: cache.get(self._key_of_client()))
            return _kept(text, now)
        except Exception:  # noqa: BLE001
            return None

    def write(self, value: str, lifetime: float, now: float) -> Steps[None]:
        """Keep a token that expires so many seconds after this Unix time."""
        cache = self._cache
        if cache is None or lifetime - EARLY < 1:
            return
        try:
            text = json.dumps({"access_token": value, "expires_at": math.floor(now + lifetime)})
            yield Ask(lambda: cache.set(self._key_of_client(), text, math.floor(lifetime - EARLY)))
        except Exception:  # noqa: BLE001
            return

    def _key_of_client(self) -> str:
        """Return a key that another client, secret, set of scopes or service does not have."""
        if self._key is None:
            settings = self._settings
            parts = [settings.base_url, settings.client_id, settings.client_secret, " ".join(settings.scopes or ())]
            text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
            self._key = "health-interop.token." + hashlib.sha256(text.encode()).hexdigest()
        return self._key


def is_token(value: Any) -> bool:
    """Return whether a header can hold this token."""
    return isinstance(value, str) and bool(value) and all("!" <= letter <= "~" for letter in value)


def _kept(text: Any, now: float) -> Optional[Kept]:
    entry = json.loads(text) if isinstance(text, (str, bytes)) else None
    if not isinstance(entry, dict) or not is_token(entry.get("access_token")):
        return None
    expires_at = entry.get("expires_at")
    if not isinstance(expires_at, (int, float)) or isinstance(expires_at, bool) or not math.isfinite(expires_at):
        return None
    usable = expires_at - EARLY - now
    return Kept(entry["access_token"], usable) if usable > 0 else None
