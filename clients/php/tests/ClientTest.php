<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Exception\NotFoundException;
use HealthInterop\Exception\TransportException;
use HealthInterop\Exception\ValidationException;
use HealthInterop\Internal\Failures;
use HealthInterop\ServiceClient;
use HealthInterop\Tests\Support\FakeTransport;
use HealthInterop\Tests\Support\TestClient;
use HealthInterop\Transport\Response;
use PHPUnit\Framework\TestCase;

/** What a client does by default, and what it tells of its last call. */
final class ClientTest extends TestCase
{
    private const BASE = 'https://hie.example.org';

    protected function tearDown(): void
    {
        putenv('HEALTH_INTEROP_BASE_URL');
    }

    public function testTheDefaultsAreThoseOfTheDocuments(): void
    {
        $defaults = [];
        foreach ((new \ReflectionMethod(ServiceClient::class, '__construct'))->getParameters() as $parameter) {
            if ($parameter->isOptional() && $parameter->getDefaultValue() !== null) {
                $defaults[$parameter->getName()] = $parameter->getDefaultValue();
            }
        }
        self::assertSame(['timeout' => 30, 'connectTimeout' => 5, 'maxRetries' => 2, 'maxRetryAfter' => 60], $defaults);
        $client = new ServiceClient('c', 's', 'local', transport: $transport = new FakeTransport());
        $client->tokens->introspect();
        $client->tokens->introspect(['timeout' => 7]);
        self::assertSame([30.0, 7.0], array_column($transport->sent, 'timeout'));
        self::assertSame([5.0, 5.0], array_column($transport->sent, 'connectTimeout'));
    }

    public function testTheAddressComesFromTheOptionThenTheEnvironmentThenTheLocalDefault(): void
    {
        $address = static function (string $environment, ?string $baseUrl): string {
            new ServiceClient('c', 's', $environment, $baseUrl, transport: $transport = new FakeTransport());
            return substr($transport->tokenRequests[0]->url, 0, -strlen('/api/v1/connect/auth/token'));
        };
        self::assertSame('http://127.0.0.1:8080', $address('local', null));
        putenv('HEALTH_INTEROP_BASE_URL=');
        self::assertSame('http://127.0.0.1:8080', $address('local', null));
        putenv('HEALTH_INTEROP_BASE_URL=https://set.example.org/');
        self::assertSame('https://set.example.org', $address('local', null));
        self::assertSame('https://set.example.org', $address('sandbox', null));
        self::assertSame(self::BASE, $address('production', self::BASE));
        putenv('HEALTH_INTEROP_BASE_URL');
        $this->expectExceptionObject(new ValidationException('baseUrl is required: pass it or set HEALTH_INTEROP_BASE_URL.'));
        $address('sandbox', null);
    }

    public function testATokenIsRequestedWithTheCredentialsAndTheScopesAndWithoutAKey(): void
    {
        $bodies = [];
        foreach ([null, [], ['patients:read', 'labs:read']] as $scopes) {
            new ServiceClient('c', 's', 'local', self::BASE, $scopes, userAgent: 'ward/3', transport: $transport = new FakeTransport());
            $bodies[] = $transport->tokenRequests[0]->body;
        }
        $all = '{"grant_type":"client_credentials","client_id":"c","client_secret":"s"}';
        self::assertSame([$all, $all, '{"grant_type":"client_credentials","client_id":"c","client_secret":"s","scope":"patients:read labs:read"}'], $bodies);
        self::assertSame([
            'Accept' => 'application/json',
            'User-Agent' => 'health-interop-php/' . ServiceClient::VERSION . ' ward/3',
            'Content-Type' => 'application/json',
        ], $transport->tokenRequests[0]->headers);
    }

    public function testTheLastResponseIsThatOfTheLastCallWhetherItWentWellOrNot(): void
    {
        $answers = [FakeTransport::json(['id' => '1'], 201), FakeTransport::json(['error_code' => 'NOT_FOUND', 'message' => 'No.'], 404, ['x-request-id' => 'req-2'])];
        $client = (new TestClient())->create(self::BASE, new FakeTransport($answers));
        self::assertFalse(isset($client->lastResponse));
        self::assertFalse(isset($client->other));
        $client->tokens->introspect();
        self::assertTrue(isset($client->lastResponse));
        self::assertSame([201, null, 0, false], [$client->lastResponse->status, $client->lastResponse->rateLimit, $client->lastResponse->retries, $client->lastResponse->replayed]);
        try {
            $client->tokens->introspect();
            self::fail('It went well.');
        } catch (NotFoundException) {
            self::assertSame([404, 'req-2'], [$client->lastResponse->status, $client->lastResponse->requestId]);
        }
        $this->expectException(\LogicException::class);
        $client->other;
    }

    public function testNoContentWhereAnObjectIsExpectedIsNoUsableResponse(): void
    {
        $client = (new TestClient())->create(self::BASE, new FakeTransport([new Response(204, ['x-request-id' => 'req-1'], '')]));
        self::assertNull($client->request('GET', '/api/v1/x'));
        try {
            $client->tokens->introspect();
            self::fail('It went well.');
        } catch (TransportException $error) {
            self::assertSame(['invalid_response', 204, 'req-1', 1], [$error->reason, $error->status, $error->requestId, $error->attempts]);
        }
    }

    public function testAListWithoutMoreEndsWhateverItsCursorSays(): void
    {
        foreach ([['next_cursor' => 'c'], ['has_more' => false, 'next_cursor' => 'c'], ['has_more' => true], ['has_more' => true, 'next_cursor' => '']] as $end) {
            $client = (new TestClient())->create(self::BASE, $transport = new FakeTransport([FakeTransport::json(['data' => [['id' => '1']]] + $end)]));
            self::assertCount(1, iterator_to_array($client->webhooks->listAll()));
            self::assertCount(1, $transport->sent);
        }
    }

    public function testAnEmptyObjectIsAnErrorBodyAndAnEmptyListIsNone(): void
    {
        self::assertSame([], Failures::of(new Response(500, [], ' {}'), 1)->body);
        self::assertNull(Failures::of(new Response(500, [], '[]'), 1)->body);
        self::assertNull(Failures::of(new Response(500, [], '[{"error_code":"X"}]'), 1)->body);
    }

    public function testEverySuccessIsLoggedWithoutAnError(): void
    {
        $errors = [];
        $logger = static function (array $record) use (&$errors): void {
            $errors[] = [$record['status'], $record['error'], $record['durationMs']];
        };
        $client = (new TestClient())->create(self::BASE, new FakeTransport([new Response(201, [], '{}'), new Response(204, [], '')]), $logger);
        $client->tokens->introspect();
        $client->request('GET', '/api/v1/x');
        self::assertSame([[200, null, 0], [201, null, 0], [204, null, 0]], $errors);
    }
}
