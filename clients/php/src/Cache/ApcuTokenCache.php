<?php

// Access tokens in APCu: the memory that the processes of one PHP-FPM share.

declare(strict_types=1);

namespace HealthInterop\Cache;

use HealthInterop\Internal\Check;

/**
 * Keeps tokens in APCu. All pools and applications of one PHP-FPM master process share this memory: use it where all of
 * them may hold the token. On the command line APCu keeps nothing unless `apc.enable_cli` is set.
 */
final class ApcuTokenCache implements TokenCache
{
    /** @throws \HealthInterop\Exception\ValidationException with errorCode INVALID_OPTION without ext-apcu */
    public function __construct()
    {
        Check::option(extension_loaded('apcu'), 'ApcuTokenCache needs the extension apcu.');
    }

    /** The text that was set for this key, null if there is none. */
    public function get(string $key): ?string
    {
        $value = apcu_fetch($key);
        return is_string($value) ? $value : null;
    }

    /** Keep a text for so many seconds. */
    public function set(string $key, #[\SensitiveParameter] string $value, int $seconds): void
    {
        apcu_store($key, $value, $seconds);
    }
}
