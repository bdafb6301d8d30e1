<?php

// The interfaces of PSR-7, PSR-16, PSR-17 and PSR-18, as far as the library calls them.

declare(strict_types=1);

namespace Psr\Http\Message {
    interface StreamInterface extends \Stringable
    {
    }
    interface MessageInterface
    {
        public function withHeader(string $name, string $value): static;
        public function withBody(StreamInterface $body): static;
        public function getHeaders(): array;
        public function getBody(): StreamInterface;
    }
    interface RequestInterface extends MessageInterface
    {
    }
    interface ResponseInterface extends MessageInterface
    {
        public function getStatusCode(): int;
    }
    interface RequestFactoryInterface
    {
        public function createRequest(string $method, string $uri): RequestInterface;
    }
    interface StreamFactoryInterface
    {
        public function createStream(string $content = ''): StreamInterface;
    }
}

namespace Psr\Http\Client {
    use Psr\Http\Message\RequestInterface;
    use Psr\Http\Message\ResponseInterface;

    interface ClientExceptionInterface extends \Throwable
    {
    }
    interface ClientInterface
    {
        public function sendRequest(RequestInterface $request): ResponseInterface;
    }
}

namespace Psr\SimpleCache {
    interface CacheInterface
    {
        public function get(string $key, mixed $default = null): mixed;
        public function set(string $key, mixed $value, null|int|\DateInterval $ttl = null): bool;
    }
}
