<?php

// The rate limit that a response states in its RateLimit and RateLimit-Policy headers.

declare(strict_types=1);

namespace HealthInterop;

/** The state of the rate limit after a response. */
final class RateLimit
{
    /**
     * @param int|null $limit     Requests in a window
     * @param int|null $remaining Requests left in this window
     * @param int|null $reset     Seconds until the window ends
     */
    public function __construct(
        public readonly ?int $limit,
        public readonly ?int $remaining,
        public readonly ?int $reset,
    ) {
    }
}
