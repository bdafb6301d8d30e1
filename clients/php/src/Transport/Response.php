<?php

// One HTTP response, as a transport returns it.

declare(strict_types=1);

namespace HealthInterop\Transport;

/** One HTTP response with its whole body. */
final class Response
{
    /**
     * @param int                   $status  HTTP status
     * @param array<string, string> $headers Values by lower-case name; values of a repeated header are joined by a comma
     * @param string                $body    The body, decoded of its transfer coding
     */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        #[\SensitiveParameter] public readonly string $body,
    ) {
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['status' => $this->status, 'bytes' => strlen($this->body)];
    }
}
