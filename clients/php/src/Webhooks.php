<?php

// Webhooks: subscriptions, deliveries, and the signatures that a receiver verifies.

declare(strict_types=1);

namespace HealthInterop;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Exception\WebhookSignatureException;
use HealthInterop\Internal\Call;
use HealthInterop\Internal\Connection;
use HealthInterop\Internal\Json;
use HealthInterop\Internal\Pages;
use HealthInterop\Internal\Signature;
use HealthInterop\Internal\Unserializable;

/**
 * Webhooks. The static methods need no client: a receiver has no credentials.
 *
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type CreatedWebhookSubscription from Shapes
 * @phpstan-import-type RotatedWebhookSubscription from Shapes
 * @phpstan-import-type WebhookAttempts from Shapes
 * @phpstan-import-type WebhookDeliveries from Shapes
 * @phpstan-import-type WebhookEventTypes from Shapes
 * @phpstan-import-type WebhookReplay from Shapes
 * @phpstan-import-type WebhookReplayRequest from Shapes
 * @phpstan-import-type WebhookSecretRotation from Shapes
 * @phpstan-import-type WebhookSubscription from Shapes
 * @phpstan-import-type WebhookSubscriptionChange from Shapes
 * @phpstan-import-type WebhookSubscriptions from Shapes
 * @phpstan-import-type WebhookTest from Shapes
 */
final class Webhooks
{
    use Unserializable;

    /** @internal Modules belong to a ServiceClient. */
    public function __construct(private readonly Connection $connection)
    {
    }

    /**
     * Create a webhook subscription; the reply holds its secret, once.
     *
     * @param string       $callbackUrl HTTPS address of the receiver
     * @param list<string> $events      Event types to receive
     * @param string|null  $description A description for your own use
     * @param CallOptions  $options     Options of this call
     * @return CreatedWebhookSubscription
     * @throws ServiceException
     */
    public function subscribe(
        #[\SensitiveParameter] string $callbackUrl,
        #[\SensitiveParameter] array $events,
        #[\SensitiveParameter] ?string $description = null,
        array $options = [],
    ): array {
        $call = Call::of(
            'POST',
            '/api/v1/connect/webhooks/subscriptions',
            body: ['callback_url' => $callbackUrl, 'subscribed_events' => $events]
                + ($description === null ? [] : ['description' => $description]),
        );
        return $this->connection->json($call, $options);
    }

    /**
     * List your webhook subscriptions.
     *
     * @param int|null    $limit   Entries of a page
     * @param string|null $cursor  Where the page begins: `next_cursor` of the page before
     * @param CallOptions $options Options of this call
     * @return WebhookSubscriptions
     * @throws ServiceException
     */
    public function list(?int $limit = null, ?string $cursor = null, array $options = []): array
    {
        $call = Call::of(
            'GET',
            '/api/v1/connect/webhooks/subscriptions',
            query: ['limit' => $limit, 'cursor' => $cursor],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Iterate over your webhook subscriptions.
     *
     * @param int|null    $limit   Entries of a page
     * @param string|null $cursor  Where the page begins: `next_cursor` of the page before
     * @param CallOptions $options Options of this call, for each page
     * @return \Generator<int, array<string, mixed>>
     * @throws ServiceException
     */
    public function listAll(?int $limit = null, ?string $cursor = null, array $options = []): \Generator
    {
        return Pages::cursor(
            fn (?string $after): array => $this->list($limit, $after, $options),
            static fn (array $page): mixed => $page['data'] ?? null,
            $cursor,
        );
    }

    /**
     * Get a webhook subscription.
     *
     * @param string      $subscriptionId Id of the subscription
     * @param CallOptions $options        Options of this call
     * @return WebhookSubscription
     * @throws ServiceException
     */
    public function get(string $subscriptionId, array $options = []): array
    {
        $call = Call::of(
            'GET',
            '/api/v1/connect/webhooks/subscriptions/{subscription_id}',
            ['subscription_id' => $subscriptionId],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Change a webhook subscription.
     *
     * @param string                    $subscriptionId Id of the subscription
     * @param WebhookSubscriptionChange $change         Fields to change
     * @param CallOptions               $options        Options of this call
     * @return WebhookSubscription
     * @throws ServiceException
     */
    public function update(string $subscriptionId, #[\SensitiveParameter] array $change, array $options = []): array
    {
        $call = Call::of(
            'PATCH',
            '/api/v1/connect/webhooks/subscriptions/{subscription_id}',
            ['subscription_id' => $subscriptionId],
            body: $change,
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Delete a webhook subscription and its pending deliveries.
     *
     * @param string      $subscriptionId Id of the subscription
     * @param CallOptions $options        Options of this call
     * @throws ServiceException
     */
    public function unsubscribe(string $subscriptionId, array $options = []): void
    {
        $call = Call::of(
            'DELETE',
            '/api/v1/connect/webhooks/subscriptions/{subscription_id}',
            ['subscription_id' => $subscriptionId],
        );
        $this->connection->send($call, $options);
    }

    /**
     * Rotate the signing secret of a webhook subscription.
     *
     * @param string                     $subscriptionId Id of the subscription
     * @param WebhookSecretRotation|null $rotation       How long the previous secret remains valid
     * @param CallOptions                $options        Options of this call
     * @return RotatedWebhookSubscription
     * @throws ServiceException
     */
    public function rotateSecret(
        string $subscriptionId,
        #[\SensitiveParameter] ?array $rotation = null,
        array $options = [],
    ): array {
        $call = Call::of(
            'POST',
            '/api/v1/connect/webhooks/subscriptions/{subscription_id}/rotate-secret',
            ['subscription_id' => $subscriptionId],
            body: $rotation,
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Send a test event to a webhook subscription.
     *
     * @param string           $subscriptionId Id of the subscription
     * @param WebhookTest|null $test           Event type to send
     * @param CallOptions      $options        Options of this call
     * @return WebhookDeliveries
     * @throws ServiceException
     */
    public function test(string $subscriptionId, #[\SensitiveParameter] ?array $test = null, array $options = []): array
    {
        $call = Call::of(
            'POST',
            '/api/v1/connect/webhooks/subscriptions/{subscription_id}/test',
            ['subscription_id' => $subscriptionId],
            body: $test,
        );
        return $this->connection->json($call, $options);
    }

    /**
     * List the delivery attempts of a webhook subscription, newest first.
     *
     * @param string      $subscriptionId Id of the subscription
     * @param string|null $eventId        Id of the event
     * @param int|null    $limit          Entries of a page
     * @param string|null $cursor         Where the page begins: `next_cursor` of the page before
     * @param CallOptions $options        Options of this call
     * @return WebhookAttempts
     * @throws ServiceException
     */
    public function attempts(
        string $subscriptionId,
        ?string $eventId = null,
        ?int $limit = null,
        ?string $cursor = null,
        array $options = [],
    ): array {
        $call = Call::of(
            'GET',
            '/api/v1/connect/webhooks/subscriptions/{subscription_id}/attempts',
            ['subscription_id' => $subscriptionId],
            ['event_id' => $eventId, 'limit' => $limit, 'cursor' => $cursor],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Send a failed event again.
     *
     * @param string      $eventId Id of the event
     * @param CallOptions $options Options of this call
     * @return WebhookDeliveries
     * @throws ServiceException
     */
    public function replay(string $eventId, array $options = []): array
    {
        $call = Call::of(
            'POST',
            '/api/v1/connect/webhooks/events/{event_id}/replay',
            ['event_id' => $eventId],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Replay the events of a time span that a webhook subscription did not receive.
     *
     * While `has_more` is true, call again with `next_cursor`.
     *
     * @param string               $subscriptionId Id of the subscription
     * @param WebhookReplayRequest $request        Time span, and which events
     * @param string|null          $cursor         `next_cursor` of the reply before
     * @param CallOptions          $options        Options of this call
     * @return WebhookReplay
     * @throws ServiceException
     */
    public function replayMissed(
        string $subscriptionId,
        #[\SensitiveParameter] array $request,
        ?string $cursor = null,
        array $options = [],
    ): array {
        $call = Call::of(
            'POST',
            '/api/v1/connect/webhooks/subscriptions/{subscription_id}/replay',
            ['subscription_id' => $subscriptionId],
            ['cursor' => $cursor],
            $request,
        );
        return $this->connection->json($call, $options);
    }

    /**
     * List the event types.
     *
     * @param CallOptions $options Options of this call
     * @return WebhookEventTypes
     * @throws ServiceException
     */
    public function eventTypes(array $options = []): array
    {
        return $this->connection->json(Call::of('GET', '/api/v1/connect/webhooks/event-types'), $options);
    }

    /**
     * Verify the signature of a webhook delivery.
     *
     * @param string                       $rawBody   Request body as it came: file_get_contents('php://input')
     * @param string|list<string>|null     $header    Value of X-Service-Signature
     * @param string|non-empty-list<string> $secret   Secret of the subscription, or several during a rotation
     * @param int                          $tolerance Seconds that the time of the signature may be away
     * @throws WebhookSignatureException
     */
    public static function verifySignature(
        #[\SensitiveParameter] mixed $rawBody,
        mixed $header,
        #[\SensitiveParameter] mixed $secret,
        int $tolerance = 300,
    ): void {
        Signature::verify($rawBody, $header, $secret, $tolerance, time());
    }

    /**
     * Verify a webhook delivery and return its event.
     *
     * @param string                       $rawBody   Request body as it came: file_get_contents('php://input')
     * @param string|list<string>|null     $header    Value of X-Service-Signature
     * @param string|non-empty-list<string> $secret   Secret of the subscription, or several during a rotation
     * @param int                          $tolerance Seconds that the time of the signature may be away
     * @return array{id: string, type: string, version: string, created_at: string, data: array<string, mixed>, meta: array<string, mixed>}
     * @throws WebhookSignatureException
     */
    public static function parseEvent(
        #[\SensitiveParameter] mixed $rawBody,
        mixed $header,
        #[\SensitiveParameter] mixed $secret,
        int $tolerance = 300,
    ): array {
        return Signature::event($rawBody, $header, $secret, $tolerance, time());
    }

    /**
     * Sign a payload as the service does, for tests of a receiver.
     *
     * @param string|array<array-key, mixed>|object $payload   Text as it is, or what is written as JSON
     * @param string                                $secret    Secret that begins with whsec_
     * @param int|null                              $timestamp Unix time; default: now
     * @return array{body: string, header: string} Body to send, and the value of X-Service-Signature
     * @throws WebhookSignatureException
     */
    public static function signTestPayload(
        #[\SensitiveParameter] string|array|object $payload,
        #[\SensitiveParameter] string $secret,
        ?int $timestamp = null,
    ): array {
        $body = is_string($payload) ? $payload : Json::encode($payload);
        return ['body' => $body, 'header' => Signature::sign($body, $secret, $timestamp ?? time())];
    }
}
