<?php

// Access tokens in a PSR-16 cache that the application already has.

declare(strict_types=1);

namespace HealthInterop\Cache;

use Psr\SimpleCache\CacheInterface;

/** Keeps tokens in a PSR-16 cache, such as those of Symfony and Laravel. */
final class Psr16TokenCache implements TokenCache
{
    public function __construct(private readonly CacheInterface $cache)
    {
    }

    /** The text that was set for this key, null if there is none. */
    public function get(string $key): ?string
    {
        $value = $this->cache->get(self::name($key));
        return is_string($value) ? $value : null;
    }

    /** Keep a text for so many seconds. */
    public function set(string $key, #[\SensitiveParameter] string $value, int $seconds): void
    {
        $this->cache->set(self::name($key), $value, $seconds);
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['cache' => $this->cache::class];
    }

    /** PSR-16 promises keys of 64 letters, digits, underscores and dots. */
    private static function name(string $key): string
    {
        return 'health_interop.' . substr(hash('sha256', $key), 0, 48);
    }
}
