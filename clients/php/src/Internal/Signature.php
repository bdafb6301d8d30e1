<?php

// Signatures of webhook deliveries: HMAC-SHA256 over `<t>.<raw body>`.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Exception\WebhookSignatureException;

/** @internal Verifies and makes the value of X-Service-Signature. */
final class Signature
{
    /**
     * Verify a signature; the order of the checks decides which reason is reported.
     *
     * @throws WebhookSignatureException
     */
    public static function verify(
        #[\SensitiveParameter] mixed $rawBody,
        mixed $header,
        #[\SensitiveParameter] mixed $secret,
        int $tolerance,
        int $now,
    ): void {
        $secrets = self::secrets($secret);
        if (!is_string($rawBody)) {
            throw self::failure(
                'parsed_body_suspected',
                'The body is not text. Pass the raw request body (file_get_contents("php://input")), not the parsed one.',
            );
        }
        [$timestamp, $signatures] = self::parts(self::headerText($header));
        $matches = false;
        foreach ($secrets as $key) {
            $expected = hash_hmac('sha256', "$timestamp.$rawBody", $key);
            foreach ($signatures as $signature) {
                $matches = hash_equals($expected, $signature) || $matches;
            }
        }
        if (!$matches) {
            throw self::failure(
                'no_match',
                'No signature matches. Check that the secret is the one of this subscription and that the body is unchanged, byte by byte.',
            );
        }
        if (abs((float) $timestamp - $now) > $tolerance) {
            throw self::failure(
                'timestamp_out_of_range',
                "The signature is right, but its time is more than $tolerance seconds away. Check the clock; the delivery may be a replay.",
            );
        }
    }

    /**
     * Verify a delivery and return its event.
     *
     * @return array{id: string, type: string, version: string, created_at: string, data: array<string, mixed>, meta: array<string, mixed>}
     * @throws WebhookSignatureException
     */
    public static function event(
        #[\SensitiveParameter] mixed $rawBody,
        mixed $header,
        #[\SensitiveParameter] mixed $secret,
        int $tolerance,
        int $now,
    ): array {
        self::verify($rawBody, $header, $secret, $tolerance, $now);
        $event = is_string($rawBody) ? Json::decode($rawBody) : null;
        if (!is_array($event) || !is_string($event['id'] ?? null) || !is_string($event['type'] ?? null)) {
            throw self::failure('invalid_event', 'The signature is right, but the body is no event: a JSON object with id and type.');
        }
        /** @var array{id: string, type: string, version: string, created_at: string, data: array<string, mixed>, meta: array<string, mixed>} $event */
        return $event;
    }

    /** The value of X-Service-Signature for a body at this time. */
    public static function sign(
        #[\SensitiveParameter] string $body,
        #[\SensitiveParameter] string $secret,
        int $timestamp,
    ): string {
        $key = self::secrets($secret)[0];
        return "t=$timestamp,v1=" . hash_hmac('sha256', "$timestamp.$body", $key);
    }

    /** A failure with this reason. */
    public static function failure(string $reason, string $message): WebhookSignatureException
    {
        /** @var 'no_match' $reason */
        return new WebhookSignatureException($message, $reason);
    }

    /** @return non-empty-list<string> */
    private static function secrets(#[\SensitiveParameter] mixed $secret): array
    {
        $secrets = is_array($secret) ? array_values($secret) : [$secret];
        foreach ($secrets as $one) {
            if (!is_string($one) || !str_starts_with($one, 'whsec_')) {
                $secrets = [];
            }
        }
        if ($secrets === []) {
            throw self::failure(
                'wrong_secret_type',
                'The secret must be the webhook_secret of the subscription, a text that begins with whsec_, or a list of such.',
            );
        }
        return $secrets;
    }

    private static function headerText(mixed $header): string
    {
        if (is_array($header) && count($header) === 1) {
            $header = reset($header);
        }
        if ($header === null || $header === '' || $header === []) {
            throw self::failure('missing_header', 'The request has no X-Service-Signature header.');
        }
        return is_string($header) ? $header : '';
    }

    /** @return array{string, non-empty-list<string>} The timestamp as it is written, and the signatures of version 1 */
    private static function parts(string $header): array
    {
        $timestamps = $signatures = [];
        foreach (explode(',', $header) as $part) {
            [$name, $value] = explode('=', trim($part), 2) + [1 => ''];
            if ($name === 't') {
                $timestamps[] = $value;
            } elseif ($name === 'v1') {
                $signatures[] = $value;
            }
        }
        if (count($timestamps) !== 1 || preg_match('/^\d+$/D', $timestamps[0]) !== 1 || $signatures === []) {
            throw self::failure(
                'malformed_header',
                'The X-Service-Signature header must have the form t=<unix seconds>,v1=<hex>.',
            );
        }
        return [$timestamps[0], $signatures];
    }
}
