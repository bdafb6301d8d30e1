<?php

// What keeps access tokens between processes.

declare(strict_types=1);

namespace HealthInterop\Cache;

/**
 * Keeps access tokens between processes. A token is a secret: keep the cache as private as the client secret. What a
 * method throws is ignored. Give the cache a time limit of its own: a call waits for it.
 */
interface TokenCache
{
    /** The text that was set for this key, null if there is none. */
    public function get(string $key): ?string;

    /** Keep a text for so many seconds. */
    public function set(string $key, #[\SensitiveParameter] string $value, int $seconds): void;
}
