"""The module client.tokens. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


class Tokens(Module):
    """The methods of ``client.tokens``."""

    __slots__ = ()

    def introspect(self, **options: Unpack[CallOptions]) -> types.SdkIntrospection:
        """Introspect the access token in use.

        GET /api/v1/sdk/token/introspect
        """
        reply: types.SdkIntrospection = self._send("GET", "/api/v1/sdk/token/introspect", options)
        return reply
