<?php

// A cache in the memory of a test: a token cache, and one of PSR-16.

declare(strict_types=1);

namespace HealthInterop\Tests\Support;

use HealthInterop\Cache\TokenCache;
use Psr\SimpleCache\CacheInterface;

/** Remembers what was set; what it is made with stands under every other key. */
final class MemoryCache implements TokenCache
{
    /** @var list<array{string, string, int}> Key, value and seconds */
    public array $sets = [];

    /** @var array<string, string> */
    public array $entries = [];

    public function __construct(private readonly ?string $first = null)
    {
    }

    public function get(string $key): ?string
    {
        return $this->entries[$key] ?? $this->first;
    }

    public function set(string $key, string $value, int $seconds): void
    {
        $this->entries[$key] = $value;
        $this->sets[] = [$key, $value, $seconds];
    }

    /** The same as PSR-16 has it, which refuses keys that no implementation has to support. */
    public function psr16(): CacheInterface
    {
        return new class ($this) implements CacheInterface {
            public function __construct(private readonly MemoryCache $cache)
            {
            }

            public function get(string $key, mixed $default = null): mixed
            {
                return $this->cache->get($this->checked($key)) ?? $default;
            }

            public function set(string $key, mixed $value, null|int|\DateInterval $ttl = null): bool
            {
                $this->cache->set($this->checked($key), $value, $ttl);
                return true;
            }

            private function checked(string $key): string
            {
                return preg_match('/^[A-Za-z0-9_.]{1,64}$/D', $key) === 1 ? $key : throw new \InvalidArgumentException($key);
            }
        };
    }
}
