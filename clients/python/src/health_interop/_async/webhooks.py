"""The module client.webhooks. Generated from clients/contract.json by scripts/generate.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Mapping, Optional, Sequence, Union

from .. import webhooks
from .._call import fields
from ..webhooks import Header, RawBody, Secrets, SignedPayload
from .._options import CallOptions
from .._typing import Unpack
from .base import Module

if TYPE_CHECKING:
    from .. import types


class Webhooks(Module):
    """The methods of ``client.webhooks``."""

    __slots__ = ()

    async def subscribe(
        self,
        callback_url: str,
        events: Sequence[str],
        description: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> types.CreatedWebhookSubscription:
        """Create a webhook subscription; the reply holds its secret, once.

        POST /api/v1/connect/webhooks/subscriptions
        """
        reply: types.CreatedWebhookSubscription = await self._send(
            "POST",
            "/api/v1/connect/webhooks/subscriptions",
            options,
            body=fields(callback_url=callback_url, subscribed_events=events, description=description),
        )
        return reply

    async def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> types.WebhookSubscriptions:
        """List your webhook subscriptions.

        GET /api/v1/connect/webhooks/subscriptions
        """
        reply: types.WebhookSubscriptions = await self._send(
            "GET",
            "/api/v1/connect/webhooks/subscriptions",
            options,
            query=fields(limit=limit, cursor=cursor),
        )
        return reply

    def list_all(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[types.WebhookSubscription]:
        """Iterate over your webhook subscriptions.

        Pages are fetched when they are needed.
        """
        return self._pages("data", lambda cursor: self.list(limit=limit, cursor=cursor, **options), cursor)

    async def get(self, subscription_id: str, **options: Unpack[CallOptions]) -> types.WebhookSubscription:
        """Get a webhook subscription.

        GET /api/v1/connect/webhooks/subscriptions/{subscription_id}
        """
        reply: types.WebhookSubscription = await self._send(
            "GET",
            "/api/v1/connect/webhooks/subscriptions/{subscription_id}",
            options,
            path={"subscription_id": subscription_id},
        )
        return reply

    async def update(
        self,
        subscription_id: str,
        change: types.WebhookSubscriptionChange,
        **options: Unpack[CallOptions],
    ) -> types.WebhookSubscription:
        """Change a webhook subscription.

        PATCH /api/v1/connect/webhooks/subscriptions/{subscription_id}
        """
        reply: types.WebhookSubscription = await self._send(
            "PATCH",
            "/api/v1/connect/webhooks/subscriptions/{subscription_id}",
            options,
            path={"subscription_id": subscription_id},
            body=change,
        )
        return reply

    async def unsubscribe(self, subscription_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a webhook subscription and its pending deliveries.

        DELETE /api/v1/connect/webhooks/subscriptions/{subscription_id}
        """
        await self._send(
            "DELETE",
            "/api/v1/connect/webhooks/subscriptions/{subscription_id}",
            options,
            path={"subscription_id": subscription_id},
        )

    async def rotate_secret(
        self,
        subscription_id: str,
        rotation: Optional[types.WebhookSecretRotation] = None,
        **options: Unpack[CallOptions],
    ) -> types.RotatedWebhookSubscription:
        """Rotate the signing secret of a webhook subscription.

        POST /api/v1/connect/webhooks/subscriptions/{subscription_id}/rotate-secret
        """
        reply: types.RotatedWebhookSubscription = await self._send(
            "POST",
            "/api/v1/connect/webhooks/subscriptions/{subscription_id}/rotate-secret",
            options,
            path={"subscription_id": subscription_id},
            body=rotation,
        )
        return reply

    async def test(
        self,
        subscription_id: str,
        test: Optional[types.WebhookTest] = None,
        **options: Unpack[CallOptions],
    ) -> types.WebhookDeliveries:
        """Send a test event to a webhook subscription.

        POST /api/v1/connect/webhooks/subscriptions/{subscription_id}/test
        """
        reply: types.WebhookDeliveries = await self._send(
            "POST",
            "/api/v1/connect/webhooks/subscriptions/{subscription_id}/test",
            options,
            path={"subscription_id": subscription_id},
            body=test,
        )
        return reply

    async def attempts(
        self,
        subscription_id: str,
        *,
        event_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> types.WebhookAttempts:
        """List the delivery attempts of a webhook subscription, newest first.

        GET /api/v1/connect/webhooks/subscriptions/{subscription_id}/attempts
        """
        reply: types.WebhookAttempts = await self._send(
            "GET",
            "/api/v1/connect/webhooks/subscriptions/{subscription_id}/attempts",
            options,
            path={"subscription_id": subscription_id},
            query=fields(event_id=event_id, limit=limit, cursor=cursor),
        )
        return reply

    async def replay(self, event_id: str, **options: Unpack[CallOptions]) -> types.WebhookDeliveries:
        """Send a failed event again.

        POST /api/v1/connect/webhooks/events/{event_id}/replay
        """
        reply: types.WebhookDeliveries = await self._send(
            "POST",
            "/api/v1/connect/webhooks/events/{event_id}/replay",
            options,
            path={"event_id": event_id},
        )
        return reply

    async def replay_missed(
        self,
        subscription_id: str,
        request: types.WebhookReplayRequest,
        *,
        cursor: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> types.WebhookReplay:
        """Replay the events of a time span that a webhook subscription did not receive.

        POST /api/v1/connect/webhooks/subscriptions/{subscription_id}/replay
        """
        reply: types.WebhookReplay = await self._send(
            "POST",
            "/api/v1/connect/webhooks/subscriptions/{subscription_id}/replay",
            options,
            path={"subscription_id": subscription_id},
            query=fields(cursor=cursor),
            body=request,
        )
        return reply

    async def event_types(self, **options: Unpack[CallOptions]) -> types.WebhookEventTypes:
        """List the event types.

        GET /api/v1/connect/webhooks/event-types
        """
        reply: types.WebhookEventTypes = await self._send("GET", "/api/v1/connect/webhooks/event-types", options)
        return reply

    def verify_signature(self, raw_body: RawBody, header: Header, secret: Secrets, tolerance: int = 300) -> None:
        """Verify the signature of a webhook delivery."""
        webhooks.verify_signature(raw_body, header, secret, tolerance)

    def parse_event(
        self,
        raw_body: RawBody,
        header: Header,
        secret: Secrets,
        tolerance: int = 300,
    ) -> types.WebhookEvent:
        """Verify a webhook delivery and return its event."""
        return webhooks.parse_event(raw_body, header, secret, tolerance)

    def sign_test_payload(
        self,
        payload: Union[str, Mapping[str, Any]],
        secret: str,
        timestamp: Optional[int] = None,
    ) -> SignedPayload:
        """Sign a payload as the service does, for tests of a receiver."""
        return webhooks.sign_test_payload(payload, secret, timestamp)
