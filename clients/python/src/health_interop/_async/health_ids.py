"""The module client.health_ids. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._health_id import normalize
from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


class HealthIds(Module):
    """The methods of ``client.health_ids``."""

    __slots__ = ()

    def normalize(self, text: str) -> str:
        """Check a Health ID and return its canonical form, without a request."""
        return normalize(text)

    async def resolve(self, person: types.ResolveRequest, **options: Unpack[CallOptions]) -> types.ResolveReply:
        """Find a patient by Health ID or demographics, or register a new one.

        POST /api/v1/connect/patients/resolve
        """
        reply: types.ResolveReply = await self._send("POST", "/api/v1/connect/patients/resolve", options, body=person)
        return reply

    async def verify(self, health_id: str, **options: Unpack[CallOptions]) -> types.VerifyReply:
        """Verify a Health ID.

        GET /api/v1/connect/patients/verify/{health_id}
        """
        reply: types.VerifyReply = await self._send(
            "GET",
            "/api/v1/connect/patients/verify/{health_id}",
            options,
            path={"health_id": health_id},
        )
        return reply
