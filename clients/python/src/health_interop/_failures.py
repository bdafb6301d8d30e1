"""The error that a response or a failed connection stands for."""

from __future__ import annotations

import json
import socket
import ssl
from typing import Any, Dict, Optional, Type

from ._responses import rate_limit_of
from ._retry import retry_after_of
from .errors import (
    AuthenticationError,
    AuthorizationError,
    ConsentRequiredError,
    IdempotencyConflictError,
    NotFoundException,
    RateLimitError,
    ServerError,
    ServiceError,
    TransportError,
    ValidationError,
)
from .transport import Response

_CLASSES: Dict[int, Type[ServiceError]] = {
    400: ValidationError,
    401: AuthenticationError,
    403: AuthorizationError,
    404: NotFoundException,
    410: NotFoundException,
    422: ValidationError,
    429: RateLimitError,
}
_CONSENT = ("CONSENT_REQUIRED", "CONSENT_EXPIRED", "CONSENT_REVOKED")


def parsed(body: bytes) -> Any:
    """Return the parsed JSON of a body, or None if it is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def failure_of(response: Response, attempts: int) -> ServiceError:
    """Return the error that a response of status 300 and above stands for."""
    body = parsed(response.body)
    read: Dict[str, Any] = body if isinstance(body, dict) else {}
    status, headers = response.status, response.headers
    code = _text(read.get("error_code")) or f"HTTP_{status}"
    details = read.get("details")
    return _class_of(status, code)(
        _text(read.get("message")) or f"The service answered with status {status} and no readable error.",
        status=status,
        error_code=code,
        details=[detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else (),
        request_id=headers.get("x-request-id") or _text(read.get("request_id")),
        rate_limit=rate_limit_of(headers),
        retry_after=_retry_after(response, read),
        body=body if isinstance(body, dict) else None,
        attempts=attempts,
    )


def unreadable(response: Response, attempts: int) -> TransportError:
    """Return the error of a successful response whose body is not the JSON that is expected."""
    return TransportError(
        f"The service answered with status {response.status} and a body that is not JSON. Check base_url: "
        "a proxy or another server may have answered.",
        reason="invalid_response",
        status=response.status,
        request_id=response.headers.get("x-request-id"),
        rate_limit=rate_limit_of(response.headers),
        attempts=attempts,
    )


def unreachable(cause: OSError, attempts: int) -> TransportError:
    """Return the error of a request without a complete response."""
    late = isinstance(cause, (TimeoutError, socket.timeout))
    message = "The service did not answer in time." if late else "The connection to the service failed."
    if isinstance(cause, ssl.SSLCertVerificationError):
        message = "The certificate of the service could not be verified."
    error = TransportError(
        message,
        reason="timeout" if late else "connection",
        attempts=attempts,
    )
    error.__cause__ = cause
    return error


def _class_of(status: int, code: str) -> Type[ServiceError]:
    if status == 403 and code in _CONSENT:
        return ConsentRequiredError
    if status == 409 and code == "IDEMPOTENCY_KEY_REUSED":
        return IdempotencyConflictError
    return ServerError if status >= 500 else _CLASSES.get(status, ServiceError)


def _retry_after(response: Response, body: Dict[str, Any]) -> Optional[float]:
    told = retry_after_of(response.headers)
    if told is not None:
        return told
    own = body.get("retry_after")
    return float(own) if isinstance(own, (int, float)) and not isinstance(own, bool) and own >= 0 else None


def _text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) and value else None
