<?php

// The access token: fetched, kept, refreshed before it expires.

declare(strict_types=1);

namespace HealthInterop\Internal;

/** @internal Holds the current token of a client. */
final class TokenSource
{
    use Unserializable;

    /** Seconds before its expiry at which a token is renewed. */
    public const MARGIN = 60.0;

    private ?Secret $token = null;
    private float $refreshAt = 0.0;
    /** Whether the token that is kept may be one that the service refused. */
    private bool $refused = false;

    /** @param \Closure(): float $clock Seconds on a monotonic clock */
    public function __construct(private readonly \Closure $clock, private readonly TokenStore $store)
    {
    }

    /** The current token, null where a new one is due. */
    public function current(): ?Secret
    {
        if ($this->token !== null && ($this->clock)() < $this->refreshAt) {
            return $this->token;
        }
        $kept = $this->refused ? null : $this->store->read();
        if ($kept === null) {
            return null;
        }
        [$this->token, $usable] = $kept;
        $this->refreshAt = ($this->clock)() + $usable;
        return $this->token;
    }

    /** Keep a token that arrived just now, with its lifetime in seconds. */
    public function keep(Secret $token, float $lifetime): Secret
    {
        $this->refreshAt = ($this->clock)() + $lifetime - min(self::MARGIN, $lifetime / 2);
        $this->token = $token;
        $this->refused = false;
        $this->store->write($token, $lifetime);
        return $token;
    }

    /** Forget this token, which the service refused, unless a newer one has taken its place. */
    public function discard(Secret $token): void
    {
        if ($this->token === $token) {
            $this->token = null;
            $this->refused = true;
        }
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return [];
    }
}
