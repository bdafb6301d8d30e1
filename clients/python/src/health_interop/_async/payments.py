"""The module client.payments. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .._call import fields
from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


class Payments(Module):
    """The methods of ``client.payments``."""

    __slots__ = ()

    async def reconciliation(
        self,
        date: str,
        *,
        currency: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> types.Reconciliation:
        """List the reconciled payments of a day.

        GET /api/v1/connect/payments/reconciliation
        """
        reply: types.Reconciliation = await self._send(
            "GET",
            "/api/v1/connect/payments/reconciliation",
            options,
            query=fields(date=date, currency=currency, limit=limit, cursor=cursor),
        )
        return reply
