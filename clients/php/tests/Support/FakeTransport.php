<?php

// A transport that keeps what is sent and answers from a list.

declare(strict_types=1);

namespace HealthInterop\Tests\Support;

use HealthInterop\Transport\Request;
use HealthInterop\Transport\Response;
use HealthInterop\Transport\Transport;

/** Answers requests for a token by itself, and all others in order; the last answer repeats. */
final class FakeTransport implements Transport
{
    /** @var list<Request> All but those for a token */
    public array $sent = [];

    /** @var list<Request> Those for a token */
    public array $tokenRequests = [];

    /** @param list<Response|\Throwable> $answers */
    public function __construct(private array $answers = [], private readonly int $expiresIn = 3600)
    {
    }

    public function send(Request $request): Response
    {
        if (str_ends_with($request->url, '/api/v1/connect/auth/token')) {
            $this->tokenRequests[] = $request;
            return new Response(200, [], '{"access_token":"token-of-the-test","token_type":"Bearer","expires_in":' . $this->expiresIn . '}');
        }
        $this->sent[] = $request;
        $answer = count($this->answers) > 1 ? array_shift($this->answers) : $this->answers[0] ?? null;
        if ($answer instanceof \Throwable) {
            throw $answer;
        }
        return $answer ?? new Response($request->method === 'DELETE' ? 204 : 200, [], $request->method === 'DELETE' ? '' : '{}');
    }

    /** A response with this JSON. */
    public static function json(mixed $body, int $status = 200, array $headers = []): Response
    {
        return new Response($status, $headers, json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE));
    }
}
