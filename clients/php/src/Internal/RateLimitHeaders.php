<?php

// RateLimit and RateLimit-Policy: lists of items with parameters, as in the IETF draft.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\RateLimit;
use HealthInterop\Transport\Response;

/** @internal Reads the rate limit from response headers. */
final class RateLimitHeaders
{
    private const ITEM = '/\G[\s,]*("(?:[^"\\\\]|\\\\.)*"|[A-Za-z*][^\s;,"]*)((?:\s*;\s*[a-z*][\w.*-]*(?:=(?:"(?:[^"\\\\]|\\\\.)*"|[^\s;,"]*))?)*)/';

    /** The first item of RateLimit, with the quota of the policy of the same name. */
    public static function of(Response $response): ?RateLimit
    {
        if (preg_match(self::ITEM, $response->header('ratelimit') ?? '', $item) !== 1) {
            return null;
        }
        $remaining = self::parameter($item[2], 'r');
        if ($remaining === null) {
            return null;
        }
        $limit = null;
        if (preg_match_all(self::ITEM, $response->header('ratelimit-policy') ?? '', $policies, PREG_SET_ORDER) > 0) {
            foreach ($policies as [, $name, $parameters]) {
                if (trim($name, '"') === trim($item[1], '"')) {
                    $limit ??= self::parameter($parameters, 'q');
                }
            }
        }
        return new RateLimit($limit, $remaining, self::parameter($item[2], 't'));
    }

    private static function parameter(string $parameters, string $name): ?int
    {
        return preg_match("/;\s*$name=(\d+)(?=\s*(?:;|$))/", $parameters, $found) === 1 ? (int) $found[1] : null;
    }
}
