<?php

// A message, its body and their factories, for the test of Psr18Transport.

declare(strict_types=1);

namespace HealthInterop\Tests\Support;

use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Message\StreamInterface;

require_once __DIR__ . '/Psr.php';

/** A request, a response, a body and what makes them. */
final class PsrMessage implements RequestInterface, ResponseInterface, StreamInterface, RequestFactoryInterface, StreamFactoryInterface
{
    /** @param array<string, list<string>> $headers */
    public function __construct(
        public string $line = '',
        public array $headers = [],
        public string $content = '',
        public int $status = 200,
    ) {
    }

    public function withHeader(string $name, string $value): static
    {
        return new static($this->line, [$name => [$value]] + $this->headers, $this->content);
    }

    public function withBody(StreamInterface $body): static
    {
        return new static($this->line, $this->headers, (string) $body);
    }

    public function getHeaders(): array
    {
        return $this->headers;
    }

    public function getBody(): StreamInterface
    {
        return $this;
    }

    public function getStatusCode(): int
    {
        return $this->status;
    }

    public function createRequest(string $method, string $uri): RequestInterface
    {
        return new static("$method $uri");
    }

    public function createStream(string $content = ''): StreamInterface
    {
        return new static(content: $content);
    }

    public function __toString(): string
    {
        return $this->content;
    }
}
