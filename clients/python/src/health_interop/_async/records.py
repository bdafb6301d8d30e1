"""The module client.records. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Literal, Optional

from .._call import fields
from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


class Records(Module):
    """The methods of ``client.records``."""

    __slots__ = ()

    async def list(
        self,
        health_id: str,
        *,
        type: Optional[Literal["diagnoses", "prescriptions", "lab_results", "vitals", "all"]] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> types.PatientRecords:
        """List a patient's diagnoses, prescriptions, laboratory results and vital signs.

        GET /api/v1/connect/patient/{health_id}/records
        """
        reply: types.PatientRecords = await self._send(
            "GET",
            "/api/v1/connect/patient/{health_id}/records",
            options,
            path={"health_id!": health_id},
            query=fields(type=type, since=since, until=until, limit=limit, cursor=cursor),
        )
        return reply

    def list_all(
        self,
        health_id: str,
        type: Literal["diagnoses", "prescriptions", "lab_results", "vitals"],
        *,
        since: Optional[str] = None,
        until: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[Dict[str, Any]]:
        """Iterate over a patient's records of one type, over all pages.

        Pages are fetched when they are needed.
        """
        return self._pages(
            f"data.{type}",
            lambda cursor: self.list(health_id=health_id, type=type, since=since, until=until, limit=limit, cursor=cursor, **options),
            cursor,
        )

    async def push_encounter(self, encounter: types.EncounterPush, **options: Unpack[CallOptions]) -> types.PushReply:
        """Push an encounter, recommendation or alert.

        POST /api/v1/sdk/records/encounters
        """
        reply: types.PushReply = await self._send("POST", "/api/v1/sdk/records/encounters", options, body=encounter)
        return reply

    async def push_lab_result(
        self,
        lab_result: types.LabResultPush,
        **options: Unpack[CallOptions],
    ) -> types.PushReply:
        """Push a laboratory result.

        POST /api/v1/sdk/records/lab-results
        """
        reply: types.PushReply = await self._send("POST", "/api/v1/sdk/records/lab-results", options, body=lab_result)
        return reply
