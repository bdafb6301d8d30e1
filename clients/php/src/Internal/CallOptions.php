<?php

// The options of one call, checked.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Exception\ValidationException;

/**
 * @internal
 * @phpstan-type CallOptionsShape array{
 *     timeout?: int|float,
 *     maxRetries?: int,
 *     idempotencyKey?: string,
 *     requestId?: string,
 *     emergencyReason?: string,
 * }
 */
final class CallOptions
{
    private function __construct(
        public readonly float $timeout,
        public readonly int $maxRetries,
        public readonly ?string $idempotencyKey,
        public readonly ?string $requestId,
        public readonly ?string $emergencyReason,
    ) {
    }

    /**
     * Read the options of a call; what is absent or null comes from the client.
     *
     * @param array<array-key, mixed> $options
     * @throws ValidationException with errorCode INVALID_OPTION, or INVALID_ARGUMENT for what cannot be a header
     */
    public static function of(array $options, ?self $defaults = null): self
    {
        $known = ['timeout' => 0, 'maxRetries' => 0, 'idempotencyKey' => 0, 'requestId' => 0, 'emergencyReason' => 0];
        foreach (array_diff_key($options, $known) as $name => $_) {
            Check::option(false, "$name is not an option. Options of a call: " . implode(', ', array_keys($known)) . '.');
        }
        $timeout = $options['timeout'] ?? $defaults?->timeout;
        Check::option(
            (is_int($timeout) || is_float($timeout)) && $timeout > 0 && $timeout <= 86_400,
            'timeout must be more than 0 seconds, and at most a day.',
        );
        $maxRetries = $options['maxRetries'] ?? $defaults?->maxRetries;
        Check::option(
            is_int($maxRetries) && $maxRetries >= 0 && $maxRetries <= 10,
            'maxRetries must be a whole number from 0 to 10.',
        );
        $requestId = self::text($options, 'requestId');
        Check::argument(
            $requestId === null || preg_match('/^[A-Za-z0-9._-]{8,128}$/D', $requestId) === 1,
            'requestId must have 8 to 128 characters of A-Z a-z 0-9 . _ -',
        );
        return new self(
            (float) $timeout,
            $maxRetries,
            self::text($options, 'idempotencyKey'),
            $requestId,
            self::text($options, 'emergencyReason'),
        );
    }

    /** @param array<array-key, mixed> $options */
    private static function text(array $options, string $name): ?string
    {
        if (!isset($options[$name])) {
            return null;
        }
        Check::argument(Check::isLine($options[$name]), "$name must be one line of text.");
        return $options[$name];
    }
}
