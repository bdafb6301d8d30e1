<?php

// The options of a client, checked.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Cache\TokenCache;
use HealthInterop\Environment;
use HealthInterop\Exception\ValidationException;
use HealthInterop\ServiceClient;
use HealthInterop\Transport\Transport;

/** @internal The options of a client with their defaults. */
final class Options
{
    use Unserializable;

    public readonly string $clientId;
    public readonly Secret $clientSecret;
    /** Scheme, host and port, without a slash at the end. */
    public readonly string $baseUrl;
    /** Scopes joined by spaces, null for all scopes of the client. */
    public readonly ?string $scope;
    public readonly string $userAgent;
    public readonly ?\Closure $logger;
    public readonly CallOptions $call;

    /**
     * @param array<array-key, mixed>|null $scopes
     * @param (callable(array<string, mixed>): mixed)|null $logger
     * @throws ValidationException with errorCode INVALID_OPTION
     */
    public function __construct(
        string $clientId,
        #[\SensitiveParameter] string $clientSecret,
        Environment|string $environment,
        ?string $baseUrl,
        ?array $scopes,
        int|float $timeout,
        public readonly int|float $connectTimeout,
        int $maxRetries,
        public readonly int|float $maxRetryAfter,
        ?string $userAgent,
        public readonly ?Transport $transport,
        ?callable $logger,
        public readonly ?TokenCache $tokenCache,
    ) {
        Check::option($clientId !== '', 'clientId is required.');
        Check::option($clientSecret !== '', 'clientSecret is required.');
        $known = $environment instanceof Environment ? $environment : Environment::tryFrom($environment);
        Check::option($known !== null, 'environment must be local, sandbox or production.');
        Check::option($connectTimeout > 0, 'connectTimeout must be more than 0 seconds.');
        Check::option($maxRetryAfter >= 0, 'maxRetryAfter must be 0 seconds or more.');
        $this->clientId = $clientId;
        $this->clientSecret = new Secret($clientSecret);
        $this->baseUrl = BaseUrl::of($baseUrl, $known);
        $this->scope = $scopes === null || $scopes === [] ? null : self::scope($scopes);
        $name = 'health-interop-php/' . ServiceClient::VERSION;
        Check::option($userAgent === null || Check::isLine($userAgent), 'userAgent must be one line of text.');
        $this->userAgent = $userAgent === null ? $name : "$name $userAgent";
        $this->logger = $logger === null ? null : $logger(...);
        $this->call = CallOptions::of(['timeout' => $timeout, 'maxRetries' => $maxRetries]);
    }

    /** @param array<array-key, mixed> $scopes */
    private static function scope(array $scopes): string
    {
        foreach ($scopes as $scope) {
            Check::option(
                is_string($scope) && preg_match('/^\S+$/D', $scope) === 1,
                'scopes must be a list of scopes, such as ["patients:read"].',
            );
        }
        /** @var array<array-key, string> $scopes */
        return implode(' ', $scopes);
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['clientId' => $this->clientId, 'baseUrl' => $this->baseUrl];
    }
}
