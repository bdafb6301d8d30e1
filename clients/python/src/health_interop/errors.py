"""The exceptions of the library. All derive from ServiceError."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Type

from ._responses import RateLimit

__all__ = [
    "AuthenticationError",
    "AuthorizationError",
    "ConsentRequiredError",
    "IdempotencyConflictError",
    "NotFoundException",
    "RateLimitError",
    "ServerError",
    "ServiceError",
    "TransportError",
    "ValidationError",
    "WebhookSignatureError",
]


class ServiceError(Exception):
    """A call failed. The base of all errors of the library; raised itself for statuses such as 405, 409 and 413.

    Attributes:
        message: What is wrong and what to do, without patient data, secrets or what was sent.
        status: The HTTP status, or None without a response.
        error_code: A stable code for programs, such as ``PATIENT_NOT_FOUND``.
        details: The faults of single fields, each with ``field``, ``code`` and ``message``.
        request_id: The id of the request. Include it when you report a problem.
        rate_limit: The rate limit that the response stated, or None.
        retry_after: Seconds to wait before the next request, or None.
        body: The error as the service wrote it, or None if it was not JSON.
        attempts: How often the request was sent.
    """

    def __init__(
        self,
        message: str,
        *,
        status: Optional[int] = None,
        error_code: Optional[str] = None,
        details: Sequence[Mapping[str, Any]] = (),
        request_id: Optional[str] = None,
        rate_limit: Optional[RateLimit] = None,
        retry_after: Optional[float] = None,
        body: Any = None,
        attempts: int = 0,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.error_code = error_code
        self.details: List[Dict[str, Any]] = [dict(detail) for detail in details]
        self.request_id = request_id
        self.rate_limit = rate_limit
        self.retry_after = retry_after
        self.body = body
        self.attempts = attempts

    def __str__(self) -> str:
        facts = [str(fact) for fact in (self.status, self.error_code) if fact is not None]
        if self.request_id is not None:
            facts.append(f"request {self.request_id}")
        return f"{self.message} ({', '.join(facts)})" if facts else self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> Any:
        return _restore, (type(self), self.__dict__.copy())


def _restore(kind: Type[ServiceError], attributes: Dict[str, Any]) -> ServiceError:
    """Rebuild an error that was pickled, for process pools and task queues."""
    error = kind.__new__(kind, attributes["message"])
    error.args = (attributes["message"],)
    error.__dict__.update(attributes)
    return error


class AuthenticationError(ServiceError):
    """The credentials or the token are invalid (401)."""


class AuthorizationError(ServiceError):
    """The client may not do this (403)."""


class ConsentRequiredError(AuthorizationError):
    """The patient has not consented, or the consent has expired or was revoked (403)."""


class NotFoundException(ServiceError):
    """The resource does not exist, or no longer exists (404, 410)."""


class IdempotencyConflictError(ServiceError):
    """The idempotency key was used before with another request (409)."""


class ValidationError(ServiceError):
    """The request, an argument or an option is invalid (400, 422, or found before a request)."""


class RateLimitError(ServiceError):
    """Too many requests (429). Wait ``retry_after`` seconds."""


class ServerError(ServiceError):
    """The service failed (5xx), after all retries."""


class TransportError(ServiceError):
    """No usable response, after all retries.

    ``reason`` is ``connection``, ``timeout`` or ``invalid_response``.
    """

    def __init__(self, message: str, *, reason: str, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.reason = reason


class WebhookSignatureError(ServiceError):
    """A webhook delivery is not from the service, is too old, or was changed on the way.

    ``reason`` is ``wrong_secret_type``, ``parsed_body_suspected``, ``missing_header``, ``malformed_header``,
    ``no_match``, ``timestamp_out_of_range`` or ``invalid_event``.
    """

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason
