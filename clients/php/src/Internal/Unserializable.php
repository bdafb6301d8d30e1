<?php

// Objects that hold secrets, handles or connections cannot be stored.

declare(strict_types=1);

namespace HealthInterop\Internal;

/** @internal Forbids serialize() and unserialize(). */
trait Unserializable
{
    /** @return array<string, mixed> */
    public function __serialize(): array
    {
        throw new \LogicException(self::class . ' cannot be serialized.');
    }

    /** @param array<string, mixed> $data */
    public function __unserialize(array $data): void
    {
        throw new \LogicException(self::class . ' cannot be unserialized.');
    }
}
