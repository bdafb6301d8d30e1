"""Verify webhook deliveries. A receiver needs the subscription's secret and no client."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, cast

from .errors import WebhookSignatureError

if TYPE_CHECKING:
    from .types import WebhookEvent

__all__ = ["SignedPayload", "parse_event", "sign_test_payload", "verify_signature"]

RawBody = Union[str, bytes, bytearray, memoryview]
Secrets = Union[str, Sequence[str]]
Header = Union[str, Sequence[str], None]

_DIGITS = re.compile(r"[0-9]+", re.ASCII)
_LONGEST = 15
_PREFIX = "whsec_"


class SignedPayload(NamedTuple):
    """A signed payload: the body and the value of ``X-Service-Signature``."""

    body: str
    header: str


def verify_signature(raw_body: RawBody, header: Header, secret: Secrets, tolerance: int = 300) -> None:
    """Verify a webhook delivery; return None or raise :class:`WebhookSignatureError`.

    Args:
        raw_body: The body as it arrived, bytes or text. Not the parsed JSON: written again, it is another text.
        header: The value of ``X-Service-Signature``.
        secret: The secret of the subscription (``whsec_…``), or a list of secrets during a rotation.
        tolerance: The accepted age in seconds, in either direction.
    """
    secrets = _secrets(secret)
    body = _bytes(raw_body)
    timestamp, signatures = _parts(header)
    if not _matches(timestamp, body, secrets, signatures):
        raise WebhookSignatureError(
            "No signature of the delivery matches. Check that the secret belongs to this subscription and that the "
            "body is verified as it arrived, byte by byte.",
            reason="no_match",
        )
    if len(timestamp) > _LONGEST or abs(int(time.time()) - int(timestamp)) > tolerance:
        raise WebhookSignatureError(
            f"The signature is more than {tolerance} seconds from the clock of this machine. Check the clock; "
            "otherwise the delivery is an old one sent again.",
            reason="timestamp_out_of_range",
        )


def parse_event(raw_body: RawBody, header: Header, secret: Secrets, tolerance: int = 300) -> WebhookEvent:
    """Verify a webhook delivery as :func:`verify_signature` does, then return its event."""
    verify_signature(raw_body, header, secret, tolerance)
    try:
        event = json.loads(_bytes(raw_body))
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("id"), str) or not isinstance(event.get("type"), str):
        raise WebhookSignatureError("The signed body is not an event with id and type.", reason="invalid_event")
    return cast("WebhookEvent", event)


def sign_test_payload(
    payload: Union[str, Mapping[str, Any]], secret: str, timestamp: Optional[int] = None
) -> SignedPayload:
    """Sign a payload as the service does, for tests of a receiver. Text is signed as it is, an object as JSON."""
    (key,) = _secrets(secret)
    body = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    moment = str(int(time.time()) if timestamp is None else timestamp)
    return SignedPayload(body, f"t={moment},v1={_signature(key, moment, body.encode())}")


def _secrets(secret: Secrets) -> List[str]:
    secrets = [secret] if isinstance(secret, str) else list(secret) if isinstance(secret, (list, tuple)) else []
    if not secrets or not all(isinstance(each, str) and each.startswith(_PREFIX) for each in secrets):
        raise WebhookSignatureError(
            "The secret must be the webhook_secret of the subscription: text that begins with whsec_.",
            reason="wrong_secret_type",
        )
    return secrets


def _bytes(body: RawBody) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise WebhookSignatureError(
        "The body must be the raw text or bytes of the request, not parsed JSON.", reason="parsed_body_suspected"
    )


def _parts(header: Header) -> Tuple[str, List[str]]:
    """Return the timestamp as it is written, and all signatures."""
    values = [header] if isinstance(header, str) else list(header or ())
    if not any(values):
        raise WebhookSignatureError("The header X-Service-Signature is missing.", reason="missing_header")
    parts = [part.strip().partition("=") for part in values[0].split(",")] if len(values) == 1 else []
    timestamps = [value for name, _, value in parts if name == "t"]
    signatures = [value for name, equals, value in parts if name == "v1" and equals]
    if not signatures or len(timestamps) != 1 or not _DIGITS.fullmatch(timestamps[0]):
        raise WebhookSignatureError(
            "The header X-Service-Signature must read t=<unix seconds>,v1=<hex>.", reason="malformed_header"
        )
    return timestamps[0], signatures


def _matches(timestamp: str, body: bytes, secrets: Sequence[str], signatures: Sequence[str]) -> bool:
    """Compare every secret with every signature, in a time that tells nothing about them."""
    found = False
    for secret in secrets:
        expected = _signature(secret, timestamp, body).encode()
        for signature in signatures:
            found = hmac.compare_digest(expected, signature.encode("utf-8", "surrogatepass")) or found
    return found


def _signature(secret: str, timestamp: str, body: bytes) -> str:
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
