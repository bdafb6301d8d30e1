"""The TLS settings of both transports: those of Python, with the certificates of the machine."""

from __future__ import annotations

import ssl
from functools import lru_cache


@lru_cache(maxsize=None)
def verified() -> ssl.SSLContext:
    """Return the context that verifies certificates and names, made once."""
    return ssl.create_default_context()
