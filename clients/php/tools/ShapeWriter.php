<?php

// Writes JSON Schemas as array shapes of PHPStan.

declare(strict_types=1);

namespace HealthInterop\Tools;

/** The array shapes of an API description. */
final class ShapeWriter
{
    private const HEAD = <<<'PHP'
        <?php

        // Array shapes of requests, replies and events. Written by tools/generate.php from docs/openapi.json.

        declare(strict_types=1);

        namespace HealthInterop;

        /**
         * The types that the docblocks of this library import.
         *
         * @phpstan-type CallOptions array{timeout?: int|float, maxRetries?: int, idempotencyKey?: string, requestId?: string, emergencyReason?: string}
         * @phpstan-type Filters array<string, scalar|list<scalar>|null>
         * @phpstan-type Bundle array<string, mixed>
         * @phpstan-type LogRecord array{method: string, path: string, status: int|null, requestId: string|null, attempt: int, durationMs: int, error: string|null}

        PHP;

    /** @var array<string, true> Schemas that the one just written names */
    private array $named = [];

    /** @param array<string, array<string, mixed>> $schemas */
    public function __construct(private readonly array $schemas)
    {
    }

    /**
     * The source of a class whose docblock holds these schemas and those that they name.
     *
     * @param list<string> $names Names that are no schema are left out
     */
    public function source(array $names): string
    {
        $written = [];
        while ($names !== []) {
            $name = array_shift($names);
            if (isset($this->schemas[$name]) && !isset($written[$name])) {
                $this->named = [];
                $written[$name] = " * @phpstan-type $name " . $this->type($this->schemas[$name], ' * ');
                array_push($names, ...array_keys($this->named));
            }
        }
        ksort($written);
        return self::HEAD . implode("\n", $written) . "\n */\nfinal class Shapes\n{\n    private function __construct()\n    {\n    }\n}\n";
    }

    /** @param array<string, mixed> $schema */
    private function type(array $schema, string $indent): string
    {
        if (isset($schema['$ref'])) {
            $name = basename((string) $schema['$ref']);
            $this->named[$name] = true;
            return $name;
        }
        $choices = $schema['anyOf'] ?? $schema['oneOf'] ?? null;
        $kinds = $schema['type'] ?? null;
        return match (true) {
            array_key_exists('const', $schema) => self::literal($schema['const']),
            isset($schema['enum']) => implode('|', array_map(self::literal(...), $schema['enum'])),
            $choices !== null => $this->union($choices, $indent),
            is_array($kinds) => $this->union(array_map(static fn (string $kind): array => ['type' => $kind] + $schema, $kinds), $indent),
            default => $this->ofKind($kinds, $schema, $indent),
        };
    }

    /** @param list<array<string, mixed>> $schemas */
    private function union(array $schemas, string $indent): string
    {
        return implode('|', array_unique(array_map(fn (array $one): string => $this->type($one, $indent), $schemas)));
    }

    /** @param array<string, mixed> $schema */
    private function ofKind(?string $kind, array $schema, string $indent): string
    {
        return match ($kind) {
            'string' => 'string',
            'integer' => 'int',
            'number' => 'int|float',
            'boolean' => 'bool',
            'null' => 'null',
            'array' => 'list<' . (isset($schema['items']) ? $this->type($schema['items'], $indent) : 'mixed') . '>',
            'object' => $this->object($schema, $indent),
            default => 'mixed',
        };
    }

    /** @param array<string, mixed> $schema */
    private function object(array $schema, string $indent): string
    {
        $properties = $schema['properties'] ?? [];
        if ($properties === []) {
            $values = $schema['additionalProperties'] ?? null;
            foreach ($schema['patternProperties'] ?? [] as $pattern) {
                $values = $pattern;
            }
            return 'array<string, ' . (is_array($values) ? $this->type($values, $indent) : 'mixed') . '>';
        }
        $lines = [];
        foreach ($properties as $name => $property) {
            $mark = in_array($name, $schema['required'] ?? [], true) ? '' : '?';
            $key = preg_match('/^\w+$/', (string) $name) === 1 ? $name : "'$name'";
            $lines[] = "$indent  $key$mark: " . $this->type($property, $indent . '  ') . ',';
        }
        return "array{\n" . implode("\n", $lines) . "\n$indent}";
    }

    private static function literal(mixed $value): string
    {
        return is_string($value) ? "'" . addcslashes($value, "'\\") . "'" : (string) json_encode($value);
    }
}
