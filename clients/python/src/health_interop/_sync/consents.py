"""The module client.consents. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from .._call import fields
from .._health_id import normalize
from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


class Consents(Module):
    """The methods of ``client.consents``."""

    __slots__ = ()

    def request(
        self,
        health_id: str,
        purpose: str,
        requested_scopes: Sequence[str],
        **options: Unpack[CallOptions],
    ) -> types.ConsentRequested:
        """Request consent from a patient.

        POST /api/v1/sdk/consents/requests
        """
        reply: types.ConsentRequested = self._send(
            "POST",
            "/api/v1/sdk/consents/requests",
            options,
            body=fields(health_id=normalize(health_id), purpose=purpose, requested_scopes=requested_scopes),
        )
        return reply

    def status(self, health_id: str, **options: Unpack[CallOptions]) -> types.ConsentRecord:
        """Get the consent status of a patient for your organisation.

        GET /api/v1/connect/patient/{health_id}/consent/status
        """
        reply: types.ConsentRecord = self._send(
            "GET",
            "/api/v1/connect/patient/{health_id}/consent/status",
            options,
            path={"health_id!": health_id},
        )
        return reply

    def grant(self, health_id: str, grant: types.ConsentGrant, **options: Unpack[CallOptions]) -> types.ConsentRecord:
        """Record that a patient grants consent to your organisation.

        POST /api/v1/connect/patient/{health_id}/consent/grant
        """
        reply: types.ConsentRecord = self._send(
            "POST",
            "/api/v1/connect/patient/{health_id}/consent/grant",
            options,
            path={"health_id!": health_id},
            body=grant,
        )
        return reply

    def deny(self, health_id: str, **options: Unpack[CallOptions]) -> types.ConsentRecord:
        """Record that a patient denies a consent request.

        POST /api/v1/connect/patient/{health_id}/consent/deny
        """
        reply: types.ConsentRecord = self._send(
            "POST",
            "/api/v1/connect/patient/{health_id}/consent/deny",
            options,
            path={"health_id!": health_id},
        )
        return reply

    def revoke(self, health_id: str, **options: Unpack[CallOptions]) -> types.ConsentRecord:
        """Record that a patient revokes consent.

        POST /api/v1/connect/patient/{health_id}/consent/revoke
        """
        reply: types.ConsentRecord = self._send(
            "POST",
            "/api/v1/connect/patient/{health_id}/consent/revoke",
            options,
            path={"health_id!": health_id},
        )
        return reply

    def types(self, **options: Unpack[CallOptions]) -> types.ConsentTypeList:
        """List the consent types.

        GET /api/v1/connect/consent-types
        """
        reply: types.ConsentTypeList = self._send("GET", "/api/v1/connect/consent-types", options)
        return reply
