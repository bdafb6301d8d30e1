"""The module client.patients. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._call import fields
from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


class Patients(Module):
    """The methods of ``client.patients``."""

    __slots__ = ()

    def get_summary(self, health_id: str, **options: Unpack[CallOptions]) -> types.PatientSummary:
        """Get the summary of a patient.

        GET /api/v1/sdk/patients/{health_id}/summary
        """
        reply: types.PatientSummary = self._send(
            "GET",
            "/api/v1/sdk/patients/{health_id}/summary",
            options,
            path={"health_id!": health_id},
        )
        return reply

    def search(self, health_id: str, **options: Unpack[CallOptions]) -> types.PatientSearchReply:
        """Search for a patient by Health ID.

        GET /api/v1/connect/patient/search
        """
        reply: types.PatientSearchReply = self._send(
            "GET",
            "/api/v1/connect/patient/search",
            options,
            query=fields(health_id=health_id),
        )
        return reply
