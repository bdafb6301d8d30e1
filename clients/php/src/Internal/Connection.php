<?php

// Sends calls: with a token, again where that may help, and with its outcome as a result or an exception.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Exception\TransportException;
use HealthInterop\LastResponse;
use HealthInterop\Transport\CurlTransport;
use HealthInterop\Transport\Request;
use HealthInterop\Transport\Response;
use HealthInterop\Transport\Transport;

/** @internal What the modules of one client share. */
final class Connection
{
    use Unserializable;

    private const TOKEN_PATH = '/api/v1/connect/auth/token';

    /** @var array{Response, int}|null Head of the last response, and the retries before it */
    private ?array $last = null;
    private readonly Transport $transport;
    private readonly TokenSource $tokens;

    public function __construct(private readonly Options $options, private readonly Runtime $runtime)
    {
        $this->transport = $options->transport ?? new CurlTransport();
        $this->tokens = new TokenSource($runtime->clock, new TokenStore($options, $runtime->unixTime));
        $this->token();
    }

    /**
     * Send a call and return the object that it answers with.
     *
     * @param array<array-key, mixed> $options Options of the call
     * @return array<array-key, mixed>
     * @throws ServiceException
     */
    public function json(Call $call, array $options = []): array
    {
        return $this->send($call, $options)
            ?? throw $this->unreadable(204, $this->lastResponse()?->requestId, 1 + ($this->lastResponse()?->retries ?? 0));
    }

    /**
     * Send a call and return the parsed JSON of its response, null for 204.
     *
     * @param array<array-key, mixed> $options Options of the call
     * @return array<array-key, mixed>|null
     * @throws ServiceException
     */
    public function send(Call $call, array $options = []): ?array
    {
        $settings = $options === [] ? $this->options->call : CallOptions::of($options, $this->options->call);
        $headers = $this->headers($call, $settings);
        $attempts = $retries = 0;
        while (true) {
            $token = $this->token();
            $headers['Authorization'] = 'Bearer ' . $token->reveal();
            $outcome = $this->attempt($call, $headers, $settings, ++$attempts);
            if ($outcome instanceof Response && $outcome->status === 401) {
                $this->tokens->discard($token);
                if ($attempts === $retries + 1) {
                    // The first refusal: once more with a new token, which is no retry.
                    continue;
                }
            }
            $response = $this->settle($call, $settings, $outcome, $retries, $attempts);
            if ($response !== null) {
                return $this->finish($response, $retries, $attempts);
            }
            $retries++;
        }
    }

    /** What is known of the response of the last finished call. */
    public function lastResponse(): ?LastResponse
    {
        if ($this->last === null) {
            return null;
        }
        [$response, $retries] = $this->last;
        return new LastResponse(
            $response->status,
            $response->header('x-request-id'),
            RateLimitHeaders::of($response),
            $retries,
            strtolower($response->header('idempotent-replayed') ?? '') === 'true',
        );
    }

    /** The current token, or a new one where that is due. */
    private function token(): Secret
    {
        return $this->tokens->current() ?? $this->tokens->keep(...$this->fetchToken());
    }

    /** @return array{Secret, float} A new token and its lifetime in seconds */
    private function fetchToken(): array
    {
        $body = [
            'grant_type' => 'client_credentials',
            'client_id' => $this->options->clientId,
            'client_secret' => $this->options->clientSecret->reveal(),
        ];
        if ($this->options->scope !== null) {
            $body['scope'] = $this->options->scope;
        }
        $call = new Call('POST', self::TOKEN_PATH, self::TOKEN_PATH, Json::encode($body));
        $headers = [
            'Accept' => 'application/json',
            'User-Agent' => $this->options->userAgent,
            'Content-Type' => 'application/json',
        ];
        for ($retries = 0; ; $retries++) {
            $outcome = $this->attempt($call, $headers, $this->options->call, $retries + 1);
            $response = $this->settle($call, $this->options->call, $outcome, $retries, $retries + 1);
            if ($response !== null) {
                break;
            }
        }
        $reply = Json::decode($response->body);
        $token = is_array($reply) ? $reply['access_token'] ?? null : null;
        $lifetime = is_array($reply) ? $reply['expires_in'] ?? null : null;
        if (!TokenStore::isToken($token) || !is_numeric($lifetime)) {
            throw $this->unreadable($response->status, $response->header('x-request-id'), $retries + 1);
        }
        return [new Secret($token), (float) $lifetime];
    }

    /** @return array<string, string> */
    private function headers(Call $call, CallOptions $settings): array
    {
        $headers = ['Accept' => 'application/json', 'User-Agent' => $this->options->userAgent];
        if ($call->body !== null) {
            $headers['Content-Type'] = 'application/json';
        }
        if ($call->method === 'POST') {
            $headers['Idempotency-Key'] = $settings->idempotencyKey ?? Uuid::v4();
        }
        if ($settings->requestId !== null) {
            $headers['X-Request-Id'] = $settings->requestId;
        }
        if ($settings->emergencyReason !== null) {
            $headers['X-Emergency-Access'] = 'true';
            $headers['X-Emergency-Reason'] = $settings->emergencyReason;
        }
        return $headers;
    }

    /**
     * Send one request and log it.
     *
     * @param array<string, string> $headers
     */
    private function attempt(
        Call $call,
        #[\SensitiveParameter] array $headers,
        CallOptions $settings,
        int $number,
    ): Response|TransportException {
        $url = $this->options->baseUrl . $call->target;
        $connect = (float) $this->options->connectTimeout;
        $request = new Request($call->method, $url, $headers, $call->body, $settings->timeout, $connect);
        $logger = $this->options->logger;
        $start = $logger === null ? 0.0 : ($this->runtime->clock)();
        try {
            $outcome = $this->transport->send($request);
        } catch (TransportException $failure) {
            $outcome = $failure;
        }
        if ($logger !== null) {
            AttemptLog::write($logger, $call, $outcome, $number, ($this->runtime->clock)() - $start);
        }
        return $outcome;
    }

    /**
     * Return a successful response; return null after the wait before a retry; throw where neither is to be had.
     *
     * @throws ServiceException
     */
    private function settle(
        Call $call,
        CallOptions $settings,
        Response|TransportException $outcome,
        int $retries,
        int $attempts,
    ): ?Response {
        if ($outcome instanceof TransportException) {
            $error = new TransportException($outcome->getMessage(), $outcome->reason, $outcome->status, $outcome->requestId, $attempts);
            $again = $error->reason !== 'invalid_response' && Retry::afterFailure($call->method);
        } elseif ($outcome->status >= 200 && $outcome->status < 300) {
            return $outcome;
        } else {
            $error = Failures::of($outcome, $attempts);
            $again = Retry::afterStatus($call->method, $outcome->status, $error->errorCode);
        }
        if (!$again || $retries >= $settings->maxRetries || $error->retryAfter > $this->options->maxRetryAfter) {
            if ($outcome instanceof Response && $call->target !== self::TOKEN_PATH) {
                $this->note($outcome, $retries);
            }
            throw $error;
        }
        ($this->runtime->sleep)(Retry::delay($retries + 1, ($this->runtime->random)(), $error->retryAfter));
        return null;
    }

    /** @return array<array-key, mixed>|null */
    private function finish(Response $response, int $retries, int $attempts): ?array
    {
        $this->note($response, $retries);
        if ($response->status === 204) {
            return null;
        }
        $result = Json::decode($response->body);
        if (!is_array($result)) {
            throw $this->unreadable($response->status, $response->header('x-request-id'), $attempts);
        }
        return $result;
    }

    private function note(Response $response, int $retries): void
    {
        $this->last = [$response->withoutBody(), $retries];
    }

    private function unreadable(int $status, ?string $requestId, int $attempts): TransportException
    {
        return new TransportException(
            "The service answered with status $status, but not with JSON. Check the base URL and what stands between.",
            'invalid_response',
            $status,
            $requestId,
            $attempts,
        );
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return ['baseUrl' => $this->options->baseUrl];
    }
}
