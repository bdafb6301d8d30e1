<?php

// JSON as the service writes and reads it.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Exception\ValidationException;

/** @internal Encodes and decodes JSON without showing its content in errors. */
final class Json
{
    private const FLAGS = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_LINE_TERMINATORS
        | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;

    /** Write a request body. An empty array is written as an object: no request of the service is an empty list. */
    public static function encode(#[\SensitiveParameter] mixed $value): string
    {
        try {
            return json_encode($value === [] ? new \stdClass() : $value, self::FLAGS);
        } catch (\JsonException $error) {
            throw new ValidationException(
                'The body cannot be written as JSON: ' . $error->getMessage() . '.',
                errorCode: 'INVALID_ARGUMENT',
            );
        }
    }

    /** Read a text, or return null if it is not JSON. */
    public static function decode(#[\SensitiveParameter] string $text): mixed
    {
        return json_decode($text, true);
    }
}
