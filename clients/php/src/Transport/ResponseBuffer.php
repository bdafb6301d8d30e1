<?php

// Collects one response as it arrives.

declare(strict_types=1);

namespace HealthInterop\Transport;

/** @internal Head and body of the response that a CurlTransport receives. */
final class ResponseBuffer
{
    /** Lines of all heads: those of 100 Continue come before that of the response. */
    public string $head = '';
    public string $body = '';
    /** Whether the body was cut off because it is too large. */
    public bool $full = false;

    /** Forget the response. */
    public function clear(): void
    {
        $this->head = $this->body = '';
        $this->full = false;
    }

    /** The response that arrived; it is kept no longer here. */
    public function take(): Response
    {
        // With several heads, the last one is that of the response; trailers follow it.
        $start = strrpos($this->head, "\r\n\r\nHTTP/");
        $head = $start === false ? $this->head : substr($this->head, $start + 4);
        $response = new Response((int) substr($head, (int) strpos($head, ' ') + 1, 3), $head, $this->body);
        $this->clear();
        return $response;
    }
}
