<?php

// 429.

declare(strict_types=1);

namespace HealthInterop\Exception;

/** Too many requests (429): wait for the seconds in retryAfter. */
final class RateLimitException extends ServiceException
{
}
