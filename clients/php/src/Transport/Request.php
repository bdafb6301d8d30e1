<?php

// One HTTP request, as a transport receives it.

declare(strict_types=1);

namespace HealthInterop\Transport;

use HealthInterop\Internal\Unserializable;

/** One HTTP request. Headers and body can hold secrets and patient data: dumps leave them out. */
final class Request
{
    use Unserializable;

    /**
     * @param string                $method         HTTP method, upper case
     * @param string                $url            Absolute URL
     * @param array<string, string> $headers        Values by name
     * @param string|null           $body           JSON text, null without a body
     * @param float                 $timeout        Seconds for the whole attempt, response body included
     * @param float                 $connectTimeout Seconds to connect
     */
    public function __construct(
        public readonly string $method,
        #[\SensitiveParameter] public readonly string $url,
        #[\SensitiveParameter] public readonly array $headers,
        #[\SensitiveParameter] public readonly ?string $body,
        public readonly float $timeout,
        public readonly float $connectTimeout,
    ) {
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['method' => $this->method, 'timeout' => $this->timeout];
    }
}
