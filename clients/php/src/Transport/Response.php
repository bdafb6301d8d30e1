<?php

// One HTTP response, as a transport returns it.

declare(strict_types=1);

namespace HealthInterop\Transport;

/** One HTTP response with its whole body. */
final class Response
{
    /** @var array<string, string>|null Values by lower-case name, null until one is asked for */
    private ?array $headers = null;

    /**
     * @param int                          $status HTTP status
     * @param array<string, string>|string $head   Headers by name (values of a repeated one joined by a comma), or their lines as text
     * @param string                       $body   The body, decoded of its transfer coding
     */
    public function __construct(
        public readonly int $status,
        private readonly array|string $head,
        #[\SensitiveParameter] public readonly string $body,
    ) {
    }

    /** The value of a header by its lower-case name, null if the response has none. */
    public function header(string $name): ?string
    {
        $this->headers ??= is_array($this->head) ? array_change_key_case($this->head) : self::parsed($this->head);
        return $this->headers[$name] ?? null;
    }

    /** The same response without its body, which may be large and may hold patient data. */
    public function withoutBody(): self
    {
        return new self($this->status, $this->head, '');
    }

    /** @return array<string, string> */
    private static function parsed(string $head): array
    {
        $headers = [];
        foreach (explode("\r\n", $head) as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $name = strtolower($name);
            $value = trim($value);
            $headers[$name] = isset($headers[$name]) ? $headers[$name] . ', ' . $value : $value;
        }
        return $headers;
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['status' => $this->status, 'bytes' => strlen($this->body)];
    }
}
