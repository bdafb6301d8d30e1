<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Exception\TransportException;
use HealthInterop\Tests\Support\PsrMessage;
use HealthInterop\Tests\Support\TestClient;
use HealthInterop\Transport\Psr18Transport;
use PHPUnit\Framework\TestCase;
use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

final class Psr18TransportTest extends TestCase
{
    public function testAClientOfTheApplicationSendsTheRequests(): void
    {
        $http = $this->client(
            new PsrMessage(content: '{"access_token":"token-of-the-test","expires_in":3600}'),
            new PsrMessage(headers: ['X-Request-Id' => ['req-1'], 'RateLimit' => ['"a";r=1', '"b";r=2']], content: '{"id":"1"}', status: 201),
        );
        $client = (new TestClient())->create('https://hie.example.org', new Psr18Transport($http, new PsrMessage(), new PsrMessage()));
        self::assertSame(['id' => '1'], $client->records->pushLabResult(['test_name' => 'Créatinine']));
        self::assertSame('POST https://hie.example.org/api/v1/sdk/records/lab-results', $http->sent[1]->line);
        self::assertSame('{"test_name":"Créatinine"}', $http->sent[1]->content);
        self::assertSame(['Bearer token-of-the-test'], $http->sent[1]->headers['Authorization']);
        self::assertSame([201, 'req-1', 1], [$client->lastResponse->status, $client->lastResponse->requestId, $client->lastResponse->rateLimit->remaining]);
        self::assertStringNotContainsString('token-of-the-test', print_r($client, true));
    }

    public function testItsFailuresAreConnectionFailuresThatShowNothing(): void
    {
        $failure = new class ('Bearer token-of-the-test') extends \Exception implements ClientExceptionInterface {
        };
        $http = $this->client(new PsrMessage(content: '{"access_token":"token-of-the-test","expires_in":3600}'), $failure);
        $test = new TestClient();
        $client = $test->create('https://hie.example.org', new Psr18Transport($http, new PsrMessage(), new PsrMessage()));
        try {
            $client->tokens->introspect();
            self::fail('It went well.');
        } catch (TransportException $error) {
            self::assertSame(['connection', 3], [$error->reason, $error->attempts]);
            self::assertNull($error->getPrevious());
            self::assertStringNotContainsString('token-of-the-test', print_r($error, true));
        }
    }

    private function client(PsrMessage|\Throwable ...$answers): ClientInterface
    {
        return new class ($answers) implements ClientInterface {
            /** @var list<RequestInterface> */
            public array $sent = [];

            public function __construct(private array $answers)
            {
            }

            public function sendRequest(RequestInterface $request): ResponseInterface
            {
                $this->sent[] = $request;
                $answer = count($this->answers) > 1 ? array_shift($this->answers) : $this->answers[0];
                return $answer instanceof \Throwable ? throw $answer : $answer;
            }
        };
    }
}
