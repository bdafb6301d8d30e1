<?php

// HTTP by a PSR-18 client that the application already has.

declare(strict_types=1);

namespace HealthInterop\Transport;

use HealthInterop\Exception\TransportException;
use HealthInterop\Internal\Unserializable;
use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Sends requests through a PSR-18 client. PSR-18 has no timeouts, redirects or limits of size: set them on the client
 * (a timeout of 30 seconds, no redirects).
 */
final class Psr18Transport implements Transport
{
    use Unserializable;

    public function __construct(
        private readonly ClientInterface $client,
        private readonly RequestFactoryInterface $requests,
        private readonly StreamFactoryInterface $streams,
    ) {
    }

    public function send(Request $request): Response
    {
        try {
            $message = $this->requests->createRequest($request->method, $request->url);
            foreach ($request->headers as $name => $value) {
                $message = $message->withHeader($name, $value);
            }
            if ($request->body !== null) {
                $message = $message->withBody($this->streams->createStream($request->body));
            }
            $reply = $this->client->sendRequest($message);
            $headers = [];
            foreach ($reply->getHeaders() as $name => $values) {
                $headers[strtolower((string) $name)] = implode(', ', $values);
            }
            return new Response($reply->getStatusCode(), $headers, (string) $reply->getBody());
        } catch (ClientExceptionInterface | \RuntimeException) {
            // The exception of the client holds the request, and with it the token: it goes no further.
            throw new TransportException('The HTTP client could not send the request or read its response.', 'connection');
        }
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['client' => $this->client::class];
    }
}
