<?php

// The client of the service.

declare(strict_types=1);

namespace HealthInterop;

use HealthInterop\Cache\TokenCache;
use HealthInterop\Exception\AuthenticationException;
use HealthInterop\Exception\ServiceException;
use HealthInterop\Exception\ValidationException;
use HealthInterop\Internal\Call;
use HealthInterop\Internal\Check;
use HealthInterop\Internal\Connection;
use HealthInterop\Internal\Json;
use HealthInterop\Internal\Label;
use HealthInterop\Internal\Options;
use HealthInterop\Internal\Runtime;
use HealthInterop\Internal\Unserializable;
use HealthInterop\Transport\Transport;

/**
 * The client of the service. Keep one per process: it keeps its connection and its token.
 *
 * @property-read LastResponse|null $lastResponse The response of the last finished call
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type LogRecord from Shapes
 */
final class ServiceClient
{
    use Unserializable;

    /** Version of this library. */
    public const VERSION = '1.2.0';

    public readonly HealthIds $healthIds;
    public readonly Patients $patients;
    public readonly Fhir $fhir;
    public readonly Records $records;
    public readonly Consents $consents;
    public readonly Webhooks $webhooks;
    public readonly Inventory $inventory;
    public readonly Payments $payments;
    public readonly Tokens $tokens;
    private readonly Connection $connection;

    /**
     * Create a client and fetch its token, or take that of the token cache.
     *
     * @param string                                  $clientId       Id of the integration client
     * @param string                                  $clientSecret   Secret of the integration client
     * @param Environment|'local'|'sandbox'|'production' $environment Environment of the client
     * @param string|null                             $baseUrl        Address of the service, without a path; default: HEALTH_INTEROP_BASE_URL
     * @param list<string>|null                       $scopes         Scopes to request; default: all scopes of the client
     * @param int|float                               $timeout        Seconds for one attempt, response body included
     * @param int|float                               $connectTimeout Seconds to connect
     * @param int                                     $maxRetries     Retries after the first attempt, 0 to 10
     * @param int|float                               $maxRetryAfter  Longest Retry-After in seconds that a call waits for
     * @param string|null                             $userAgent      Text appended to the User-Agent
     * @param Transport|null                          $transport      Sends requests; default: ext-curl
     * @param (callable(LogRecord): mixed)|null       $logger         Receives one record per attempt
     * @param TokenCache|null                         $tokenCache     Keeps the token between processes, such as those of PHP-FPM
     * @throws ValidationException     with errorCode INVALID_OPTION
     * @throws AuthenticationException for wrong credentials
     * @throws ServiceException        where the token cannot be fetched
     */
    public function __construct(
        string $clientId,
        #[\SensitiveParameter] string $clientSecret,
        Environment|string $environment,
        ?string $baseUrl = null,
        ?array $scopes = null,
        int|float $timeout = 30,
        int|float $connectTimeout = 5,
        int $maxRetries = 2,
        int|float $maxRetryAfter = 60,
        ?string $userAgent = null,
        ?Transport $transport = null,
        ?callable $logger = null,
        ?TokenCache $tokenCache = null,
    ) {
        $this->start(
            new Options(
                $clientId,
                $clientSecret,
                $environment,
                $baseUrl,
                $scopes,
                $timeout,
                $connectTimeout,
                $maxRetries,
                $maxRetryAfter,
                $userAgent,
                $transport,
                $logger,
                $tokenCache,
            ),
            Runtime::system(),
        );
    }

    /**
     * Send a request to any path of the service.
     *
     * @param string $method  HTTP method
     * @param string $path    Path, percent-encoded, such as /api/fhir/R4/metadata
     * @param array{
     *     query?: array<string, scalar|list<scalar>|null>,
     *     body?: mixed,
     *     timeout?: int|float,
     *     maxRetries?: int,
     *     idempotencyKey?: string,
     *     requestId?: string,
     *     emergencyReason?: string,
     * } $options Query, body and the options of every call
     * @return mixed The parsed JSON, null for 204
     * @throws ServiceException
     */
    public function request(string $method, string $path, #[\SensitiveParameter] array $options = []): mixed
    {
        Check::argument(
            preg_match('~^/(?!/)[^\x00-\x20\x7f\\\\?#]*$~D', $path) === 1,
            'path must begin with / and hold neither host nor query.',
        );
        Check::argument(preg_match('~/(?:\.|%2e){1,2}(?:/|$)~i', $path) !== 1, 'path must not hold . or .. as a segment.');
        Check::argument(preg_match('/^[A-Za-z]{1,20}$/D', $method) === 1, 'method must be an HTTP method.');
        $query = $options['query'] ?? [];
        $body = isset($options['body']) ? Json::encode($options['body']) : null;
        Check::argument(is_array($query), 'query must be an array.');
        unset($options['query'], $options['body']);
        $target = $path . Call::of('GET', '', query: $query)->target;
        return $this->connection->send(new Call(strtoupper($method), $target, Label::of($path), $body), $options);
    }

    /** Read lastResponse. */
    public function __get(string $name): ?LastResponse
    {
        if ($name !== 'lastResponse') {
            throw new \LogicException('ServiceClient has no property ' . $name . '.');
        }
        return $this->connection->lastResponse();
    }

    /** Whether there was a response. */
    public function __isset(string $name): bool
    {
        return $name === 'lastResponse' && $this->connection->lastResponse() !== null;
    }

    /** @return array<string, mixed> Neither secret nor token */
    public function __debugInfo(): array
    {
        return ['connection' => $this->connection, 'lastResponse' => $this->connection->lastResponse()];
    }

    private function start(Options $options, Runtime $runtime): void
    {
        $this->connection = new Connection($options, $runtime);
        $this->healthIds = new HealthIds($this->connection);
        $this->patients = new Patients($this->connection);
        $this->fhir = new Fhir($this->connection);
        $this->records = new Records($this->connection);
        $this->consents = new Consents($this->connection);
        $this->webhooks = new Webhooks($this->connection);
        $this->inventory = new Inventory($this->connection);
        $this->payments = new Payments($this->connection);
        $this->tokens = new Tokens($this->connection);
    }

    private function __clone()
    {
    }
}
