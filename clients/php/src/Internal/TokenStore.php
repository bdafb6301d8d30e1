<?php

// The place of one client in the token cache of the caller.

declare(strict_types=1);

namespace HealthInterop\Internal;

/** @internal Reads and keeps the token that outlives the process. A cache out of order is none. */
final class TokenStore
{
    use Unserializable;

    private ?string $key = null;

    /** @param \Closure(): float $unixTime Seconds since 1970: the one clock that processes share */
    public function __construct(private readonly Options $options, private readonly \Closure $unixTime)
    {
    }

    /** @return array{Secret, float}|null The token that is kept, and the seconds in which it need not be renewed */
    public function read(): ?array
    {
        try {
            $text = $this->options->tokenCache?->get($this->key());
        } catch (\Throwable) {
            return null;
        }
        $entry = $text === null ? null : Json::decode($text);
        $token = is_array($entry) ? $entry['access_token'] ?? null : null;
        $expiresAt = is_array($entry) ? $entry['expires_at'] ?? null : null;
        if (!self::isToken($token) || !(is_int($expiresAt) || is_float($expiresAt)) || !is_finite($expiresAt)) {
            return null;
        }
        $usable = $expiresAt - TokenSource::MARGIN - ($this->unixTime)();
        return $usable > 0 ? [new Secret($token), $usable] : null;
    }

    /** Keep a token that expires in so many seconds. */
    public function write(Secret $token, float $lifetime): void
    {
        $seconds = (int) floor($lifetime - TokenSource::MARGIN);
        if ($this->options->tokenCache === null || $seconds < 1) {
            return;
        }
        $expiresAt = (int) floor(($this->unixTime)() + $lifetime);
        $value = Json::encode(['access_token' => $token->reveal(), 'expires_at' => $expiresAt]);
        try {
            $this->options->tokenCache->set($this->key(), $value, $seconds);
        } catch (\Throwable) {
            return;
        }
    }

    /**
     * Whether a header can hold this token.
     *
     * @phpstan-assert-if-true non-empty-string $value
     */
    public static function isToken(#[\SensitiveParameter] mixed $value): bool
    {
        return is_string($value) && preg_match('/^[\x21-\x7e]+$/D', $value) === 1;
    }

    /** A key that another client, secret, set of scopes or service does not have. */
    private function key(): string
    {
        $options = $this->options;
        $parts = [$options->baseUrl, $options->clientId, $options->clientSecret->reveal(), $options->scope ?? ''];
        return $this->key ??= 'health-interop.token.' . hash('sha256', Json::encode($parts));
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return [];
    }
}
