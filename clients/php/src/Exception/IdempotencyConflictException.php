<?php

// 409 for a key that was used before.

declare(strict_types=1);

namespace HealthInterop\Exception;

/** The idempotency key was used with another payload (409). */
final class IdempotencyConflictException extends ServiceException
{
}
