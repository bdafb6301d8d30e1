<?php

// A text that no dump, export or trace shows.

declare(strict_types=1);

namespace HealthInterop\Internal;

/**
 * @internal The text is kept beside the object, not in it: var_dump, var_export, print_r, casts and error reporters,
 * which read properties, find none.
 */
final class Secret
{
    use Unserializable;

    /** @var \WeakMap<self, string>|null */
    private static ?\WeakMap $texts = null;

    public function __construct(#[\SensitiveParameter] string $text)
    {
        self::$texts ??= new \WeakMap();
        self::$texts[$this] = $text;
    }

    /** The text itself. */
    public function reveal(): string
    {
        return self::$texts[$this] ?? throw new \LogicException('This secret has no text.');
    }

    private function __clone()
    {
    }
}
