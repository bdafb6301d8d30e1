"""Client library of the healthcare interoperability service: Health IDs, FHIR, records, consents, webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._client import ServiceClient
from ._log import AttemptRecord
from ._responses import RateLimit, ResponseInfo, response_of
from ._token_cache import AsyncTokenCache, TokenCache
from ._version import __version__
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
    WebhookSignatureError,
)
from .transport import AsyncTransport, Request, Response, Transport

if TYPE_CHECKING:
    from ._async_client import AsyncServiceClient

__all__ = [
    "AsyncServiceClient",
    "AsyncTokenCache",
    "AsyncTransport",
    "AttemptRecord",
    "AuthenticationError",
    "AuthorizationError",
    "ConsentRequiredError",
    "IdempotencyConflictError",
    "NotFoundException",
    "RateLimit",
    "RateLimitError",
    "Request",
    "Response",
    "ResponseInfo",
    "ServerError",
    "ServiceClient",
    "ServiceError",
    "TokenCache",
    "Transport",
    "TransportError",
    "ValidationError",
    "WebhookSignatureError",
    "__version__",
    "response_of",
]


def __getattr__(name: str) -> Any:
    """Import AsyncServiceClient when it is first used: programs without asyncio do not pay for it."""
    if name == "AsyncServiceClient":
        from ._async_client import AsyncServiceClient

        return AsyncServiceClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
