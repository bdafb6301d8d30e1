<?php

// The access token: fetched, kept, refreshed before it expires.

declare(strict_types=1);

namespace HealthInterop\Internal;

/** @internal Holds the current token of a client. */
final class TokenSource
{
    use Unserializable;

    private const MARGIN = 60.0;

    private ?Secret $token = null;
    private float $refreshAt = 0.0;

    /** @param \Closure(): float $clock Seconds on a monotonic clock */
    public function __construct(private readonly \Closure $clock)
    {
    }

    /** The current token, null where a new one is due. */
    public function current(): ?Secret
    {
        return $this->token === null || ($this->clock)() >= $this->refreshAt ? null : $this->token;
    }

    /** Keep a token that arrived just now, with its lifetime in seconds. */
    public function keep(Secret $token, float $lifetime): Secret
    {
        $this->refreshAt = ($this->clock)() + $lifetime - min(self::MARGIN, $lifetime / 2);
        return $this->token = $token;
    }

    /** Forget this token, which the service refused, unless a newer one has taken its place. */
    public function discard(Secret $token): void
    {
        if ($this->token === $token) {
            $this->token = null;
        }
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return [];
    }
}
