<?php

// One call: method, path, query and body.

declare(strict_types=1);

namespace HealthInterop\Internal;

/** @internal One call, ready to be sent. */
final class Call
{
    /**
     * @param string      $method HTTP method, upper case
     * @param string      $target Path and query, percent-encoded
     * @param string      $label  The path with placeholders, for logs
     * @param string|null $body   JSON text
     */
    public function __construct(
        public readonly string $method,
        public readonly string $target,
        public readonly string $label,
        #[\SensitiveParameter] public readonly ?string $body = null,
    ) {
    }

    /**
     * A call of a known path.
     *
     * @param string                  $template Path with placeholders such as {health_id}
     * @param array<string, string>   $values   Values of the placeholders
     * @param array<array-key, mixed> $query    Query parameters; null is left out, a list is repeated
     * @param mixed                   $body     What is written as JSON, null for no body
     */
    public static function of(
        string $method,
        string $template,
        #[\SensitiveParameter] array $values = [],
        #[\SensitiveParameter] array $query = [],
        #[\SensitiveParameter] mixed $body = null,
    ): self {
        $path = $template;
        foreach ($values as $name => $value) {
            $path = str_replace('{' . $name . '}', self::segment($name, $value), $path);
        }
        return new self($method, $path . self::query($query), $template, $body === null ? null : Json::encode($body));
    }

    /** One segment of a path, percent-encoded. */
    public static function segment(string $name, string $value): string
    {
        Check::argument($value !== '' && $value !== '.' && $value !== '..', "$name must not be empty, . or ..");
        return rawurlencode($value);
    }

    /** @param array<array-key, mixed> $query */
    private static function query(#[\SensitiveParameter] array $query): string
    {
        $pairs = [];
        foreach ($query as $name => $values) {
            foreach (is_array($values) ? $values : [$values] as $value) {
                if ($value !== null) {
                    $pairs[] = rawurlencode((string) $name) . '=' . rawurlencode(self::text((string) $name, $value));
                }
            }
        }
        return $pairs === [] ? '' : '?' . implode('&', $pairs);
    }

    private static function text(string $name, mixed $value): string
    {
        if (is_bool($value)) {
            return $value ? 'true' : 'false';
        }
        if ($value instanceof \BackedEnum) {
            return (string) $value->value;
        }
        Check::argument(
            is_scalar($value) || $value instanceof \Stringable,
            "The query parameter $name must be text, a number, true, false or a list of such.",
        );
        /** @var int|float|string|\Stringable $value */
        return (string) $value;
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['method' => $this->method, 'path' => $this->label];
    }
}
