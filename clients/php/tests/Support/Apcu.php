<?php

// APCu in the memory of a test, in place of the extension where ApcuTokenCache looks for it.

declare(strict_types=1);

namespace HealthInterop\Cache;

/** What APCu keeps. */
final class Apcu
{
    public static bool $loaded = true;

    /** @var array<string, array{mixed, int}> Value and seconds by key */
    public static array $entries = [];
}

function extension_loaded(string $name): bool
{
    return $name === 'apcu' && Apcu::$loaded;
}

function apcu_fetch(string $key): mixed
{
    return Apcu::$entries[$key][0] ?? false;
}

function apcu_store(string $key, mixed $value, int $seconds): bool
{
    Apcu::$entries[$key] = [$value, $seconds];
    return true;
}
