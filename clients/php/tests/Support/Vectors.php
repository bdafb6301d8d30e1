<?php

// The vectors that the libraries of all languages share.

declare(strict_types=1);

namespace HealthInterop\Tests\Support;

/** Reads clients/vectors. */
final class Vectors
{
    /**
     * The cases of one list of a file, by their sentence.
     *
     * @return iterable<string, array{array<string, mixed>}>
     */
    public static function of(string $file, string $list = 'vectors'): iterable
    {
        foreach (self::read("vectors/$file.json")[$list] as $case) {
            yield $case['name'] => [$case];
        }
    }

    /**
     * A JSON file of the folder clients.
     *
     * @return array<string, mixed>
     */
    public static function read(string $file): array
    {
        return json_decode((string) file_get_contents(dirname(__DIR__, 3) . '/' . $file), true, flags: JSON_THROW_ON_ERROR);
    }

    /** The name that a class of errors has in PHP. */
    public static function exceptionClass(string $name): string
    {
        return 'HealthInterop\\Exception\\' . preg_replace('/Error$/', 'Exception', $name);
    }
}
