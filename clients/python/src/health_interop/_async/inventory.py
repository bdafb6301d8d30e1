"""The module client.inventory. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Optional

from .._call import fields
from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


class Inventory(Module):
    """The methods of ``client.inventory``."""

    __slots__ = ()

    async def pharmacy_stock(
        self,
        *,
        facility_id: Optional[str] = None,
        medication_code: Optional[str] = None,
        code_system: Optional[Literal["ATC", "RxNorm", "SNOMED", "other"]] = None,
        stock_status: Optional[Literal["in_stock", "low", "out_of_stock"]] = None,
        q: Optional[str] = None,
        expiring_before: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> types.StockPage:
        """List pharmacy stock.

        GET /api/v1/connect/pharmacy/stock
        """
        reply: types.StockPage = await self._send(
            "GET",
            "/api/v1/connect/pharmacy/stock",
            options,
            query=fields(facility_id=facility_id, medication_code=medication_code, code_system=code_system, stock_status=stock_status, q=q, expiring_before=expiring_before, limit=limit, cursor=cursor),
        )
        return reply

    async def report_pharmacy_stock(
        self,
        report: types.StockReport,
        **options: Unpack[CallOptions],
    ) -> types.StockOutcomes:
        """Report pharmacy stock.

        PUT /api/v1/connect/pharmacy/stock
        """
        reply: types.StockOutcomes = await self._send("PUT", "/api/v1/connect/pharmacy/stock", options, body=report)
        return reply

    async def blood_bank(
        self,
        *,
        facility_id: Optional[str] = None,
        blood_group: Optional[Literal["A+", "A-", "B+", "B-", "AB+", "AB-", "O+", "O-"]] = None,
        component: Optional[Literal["whole_blood", "packed_red_cells", "platelets", "fresh_frozen_plasma", "cryoprecipitate"]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> types.BloodInventory:
        """List the blood bank inventory.

        GET /api/v1/connect/blood-bank/inventory
        """
        reply: types.BloodInventory = await self._send(
            "GET",
            "/api/v1/connect/blood-bank/inventory",
            options,
            query=fields(facility_id=facility_id, blood_group=blood_group, component=component, limit=limit, cursor=cursor),
        )
        return reply
