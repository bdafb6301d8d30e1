<?php

// Which calls are sent again, and when.

declare(strict_types=1);

namespace HealthInterop\Internal;

/** @internal Decides about retries; pure. */
final class Retry
{
    private const FIRST = 0.5;
    private const LONGEST = 8.0;

    /** Whether a response with this status may be asked for again with this method. */
    public static function afterStatus(string $method, int $status, ?string $errorCode): bool
    {
        if ($status === 429) {
            return true;
        }
        $passing = $status === 408 || $status >= 500 || ($status === 409 && $errorCode === 'IDEMPOTENCY_IN_PROGRESS');
        return $passing && self::afterFailure($method);
    }

    /** Whether a request with this method may be sent again when nobody knows whether it arrived. */
    public static function afterFailure(string $method): bool
    {
        return in_array($method, ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'], true);
    }

    /**
     * Seconds before retry $number, counted from 1.
     *
     * @param float    $random     From 0 to below 1
     * @param int|null $retryAfter What the response asks for, at least
     */
    public static function delay(int $number, float $random, ?int $retryAfter): float
    {
        return max($random * min(self::LONGEST, self::FIRST * 2 ** ($number - 1)), (float) ($retryAfter ?? 0));
    }

    /**
     * Seconds that Retry-After states: a number, or a date compared with the Date of the same response, so that
     * neither clock matters.
     */
    public static function retryAfter(?string $header, ?string $date): ?int
    {
        $value = trim($header ?? '');
        if ($value === '') {
            return null;
        }
        if (preg_match('/^\d+$/D', $value) === 1) {
            return (int) $value;
        }
        $until = self::date($value);
        $sent = self::date($date ?? '');
        return $until === null || $sent === null ? null : max(0, $until - $sent);
    }

    private static function date(string $text): ?int
    {
        $date = \DateTimeImmutable::createFromFormat('!D, d M Y H:i:s \G\M\T', trim($text), new \DateTimeZone('UTC'));
        return $date === false ? null : $date->getTimestamp();
    }
}
