<?php

// Which exception an error response becomes.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Exception\AuthenticationException;
use HealthInterop\Exception\AuthorizationException;
use HealthInterop\Exception\ConsentRequiredException;
use HealthInterop\Exception\IdempotencyConflictException;
use HealthInterop\Exception\NotFoundException;
use HealthInterop\Exception\RateLimitException;
use HealthInterop\Exception\ServerException;
use HealthInterop\Exception\ServiceException;
use HealthInterop\Exception\ValidationException;
use HealthInterop\Transport\Response;

/** @internal Makes exceptions of error responses. */
final class Failures
{
    private const CONSENT = ['CONSENT_REQUIRED', 'CONSENT_EXPIRED', 'CONSENT_REVOKED'];

    /** The exception of an error response. */
    public static function of(Response $response, int $attempts): ServiceException
    {
        $status = $response->status;
        $body = Json::decode($response->body);
        $body = is_array($body) && ($body === [] ? trim($response->body)[0] === '{' : !array_is_list($body)) ? $body : null;
        $code = self::text($body, 'error_code') ?? "HTTP_$status";
        $retryAfter = Retry::retryAfter($response->header('retry-after'), $response->header('date'));
        if ($retryAfter === null && is_int($body['retry_after'] ?? null)) {
            $retryAfter = max(0, $body['retry_after']);
        }
        $class = self::classOf($status, $code);
        return new $class(
            self::text($body, 'message') ?? "The service answered with status $status and no readable error.",
            $status,
            $code,
            self::details($body),
            $response->header('x-request-id') ?? self::text($body, 'request_id'),
            RateLimitHeaders::of($response),
            $retryAfter,
            $body,
            $attempts,
        );
    }

    /**
     * The class for a status and an error code.
     *
     * @return class-string<ServiceException>
     */
    public static function classOf(int $status, string $code): string
    {
        return match (true) {
            $status === 401 => AuthenticationException::class,
            $status === 403 => in_array($code, self::CONSENT, true) ? ConsentRequiredException::class : AuthorizationException::class,
            $status === 404, $status === 410 => NotFoundException::class,
            $status === 409 && $code === 'IDEMPOTENCY_KEY_REUSED' => IdempotencyConflictException::class,
            $status === 400, $status === 422 => ValidationException::class,
            $status === 429 => RateLimitException::class,
            $status >= 500 => ServerException::class,
            default => ServiceException::class,
        };
    }

    /** @param array<array-key, mixed>|null $body */
    private static function text(?array $body, string $name): ?string
    {
        $value = $body[$name] ?? null;
        return is_string($value) && $value !== '' ? $value : null;
    }

    /**
     * @param array<array-key, mixed>|null $body
     * @return list<array{field?: string, code?: string, message?: string}>
     */
    private static function details(?array $body): array
    {
        $details = $body['details'] ?? null;
        $list = is_array($details) && array_is_list($details) ? array_values(array_filter($details, is_array(...))) : [];
        /** @var list<array{field?: string, code?: string, message?: string}> $list */
        return $list;
    }
}
