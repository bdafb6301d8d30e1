<?php

// Collects one response as it arrives.

declare(strict_types=1);

namespace HealthInterop\Transport;

/** @internal Head and body of the response that a CurlTransport receives. */
final class ResponseBuffer
{
    /** Whether the body was cut off because it is too large. */
    public bool $full = false;
    private string $head = '';
    private string $body = '';

    public function __construct(private readonly int $limit)
    {
    }

    /** Forget the response. */
    public function clear(): void
    {
        $this->full = false;
        $this->head = $this->body = '';
    }

    /** Take a line of the head; a new status line (after 100 Continue) begins a new head. */
    public function header(string $line): int
    {
        $this->head = strncmp($line, 'HTTP/', 5) === 0 ? $line : $this->head . $line;
        return strlen($line);
    }

    /** Take bytes of the body; fewer than given ends the transfer. */
    public function write(string $bytes): int
    {
        if (strlen($this->body) + strlen($bytes) > $this->limit) {
            $this->full = true;
            return 0;
        }
        $this->body .= $bytes;
        return strlen($bytes);
    }

    /** The response that arrived. */
    public function response(): Response
    {
        $headers = [];
        $lines = explode("\r\n", $this->head);
        $status = (int) (explode(' ', $lines[0], 3)[1] ?? 0);
        unset($lines[0]);
        foreach ($lines as $line) {
            $colon = strpos($line, ':');
            if ($colon !== false) {
                $name = strtolower(substr($line, 0, $colon));
                $value = trim(substr($line, $colon + 1));
                $headers[$name] = isset($headers[$name]) ? $headers[$name] . ', ' . $value : $value;
            }
        }
        return new Response($status, $headers, $this->body);
    }
}
