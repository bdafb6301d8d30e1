<?php

// Checks of options and arguments.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Exception\ValidationException;

/** @internal Refuses options and arguments before a request. */
final class Check
{
    /**
     * @phpstan-assert true $holds
     * @throws ValidationException with errorCode INVALID_OPTION unless the claim holds
     */
    public static function option(bool $holds, string $message): void
    {
        if (!$holds) {
            throw new ValidationException($message, errorCode: 'INVALID_OPTION');
        }
    }

    /**
     * @phpstan-assert true $holds
     * @throws ValidationException with errorCode INVALID_ARGUMENT unless the claim holds
     */
    public static function argument(bool $holds, string $message): void
    {
        if (!$holds) {
            throw new ValidationException($message, errorCode: 'INVALID_ARGUMENT');
        }
    }

    /**
     * Whether this is a text that fits into a header.
     *
     * @phpstan-assert-if-true non-empty-string $value
     */
    public static function isLine(mixed $value): bool
    {
        return is_string($value) && trim($value) !== '' && preg_match('/[\x00-\x1f\x7f]/', $value) === 0;
    }
}
