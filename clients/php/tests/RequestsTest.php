<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Exception\TransportException;
use HealthInterop\Exception\ValidationException;
use HealthInterop\ServiceClient;
use HealthInterop\Tests\Support\FakeTransport;
use HealthInterop\Tests\Support\TestClient;
use HealthInterop\Tests\Support\Vectors;
use PHPUnit\Framework\TestCase;

final class RequestsTest extends TestCase
{
    private const BASE = 'https://hie.example.org';

    public static function requests(): iterable
    {
        return Vectors::of('requests', 'requests');
    }

    /** @dataProvider requests */
    public function testRequest(array $case): void
    {
        $transport = new FakeTransport();
        TestClient::call((new TestClient())->create(self::BASE, $transport), $case);
        self::assertCount(1, $transport->sent);
        $request = $transport->sent[0];
        $expected = $case['expected'];
        [$path, $query] = explode('?', substr($request->url, strlen(self::BASE)), 2) + [1 => ''];
        $headers = array_change_key_case($request->headers);
        self::assertSame($expected['method'], $request->method);
        self::assertSame($expected['path'], $path);
        self::assertSame($expected['query'], self::pairs($query));
        self::assertSame($expected['body'], $request->body === null ? null : json_decode($request->body, true));
        self::assertEquals($expected['headers'], array_intersect_key($headers, $expected['headers']));
        self::assertSame([], array_intersect(array_keys($headers), $expected['absentHeaders']));
        self::assertSame($expected['hasIdempotencyKey'], isset($headers['idempotency-key']));
        if ($expected['hasIdempotencyKey'] && !isset($expected['headers']['idempotency-key'])) {
            self::assertMatchesRegularExpression('/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/D', $headers['idempotency-key']);
        }
        self::assertSame('Bearer token-of-the-test', $headers['authorization']);
        self::assertSame('health-interop-php/' . ServiceClient::VERSION, $headers['user-agent']);
    }

    public static function invalid(): iterable
    {
        return Vectors::of('requests', 'invalid');
    }

    /** @dataProvider invalid */
    public function testInvalid(array $case): void
    {
        $transport = new FakeTransport();
        $client = (new TestClient())->create(self::BASE, $transport);
        try {
            TestClient::call($client, $case);
            self::fail('The call was sent.');
        } catch (ValidationException $error) {
            self::assertSame([$case['errorCode'], null, 0], [$error->errorCode, $error->status, count($transport->sent)]);
        }
    }

    public static function options(): iterable
    {
        return Vectors::of('requests', 'options');
    }

    /** @dataProvider options */
    public function testOptions(array $case): void
    {
        $required = ['clientId' => 'c', 'clientSecret' => 's', 'environment' => 'local', 'baseUrl' => 'http://127.0.0.1:1'];
        $options = array_filter($case['options'] + $required, static fn (mixed $value): bool => $value !== null);
        try {
            $client = new ServiceClient(...$options, transport: new FakeTransport());
            self::assertTrue($case['valid']);
            self::assertNull($client->lastResponse);
        } catch (ValidationException $error) {
            self::assertFalse($case['valid'], $error->getMessage());
            self::assertSame(['INVALID_OPTION', null], [$error->errorCode, $error->status]);
        } catch (\TypeError) {
            // PHP itself refuses a value of another type, and a required parameter that is left out.
            self::assertContains($case['name'], ['no client secret', 'half a retry', 'scopes as a text']);
        }
    }

    public function testAnOptionOfACallThatDoesNotExistIsRefused(): void
    {
        $client = (new TestClient())->create(self::BASE, $transport = new FakeTransport());
        foreach ([['retries' => 1], ['timeout' => 0], ['timeout' => '5'], ['maxRetries' => 11], ['maxRetries' => 1.5]] as $options) {
            try {
                $client->tokens->introspect($options);
                self::fail('The call was sent.');
            } catch (ValidationException $error) {
                self::assertSame('INVALID_OPTION', $error->errorCode);
            }
        }
        self::assertSame([], $transport->sent);
    }

    public function testAClientThatIsNoLongerUsedIsGoneAtOnce(): void
    {
        $client = (new TestClient())->create(self::BASE, new FakeTransport());
        $client->tokens->introspect();
        $reference = \WeakReference::create($client->tokens);
        $client = null;
        self::assertNull($reference->get());
    }

    public function testAnyPathCanBeRequested(): void
    {
        $transport = new FakeTransport([FakeTransport::json(['resourceType' => 'Patient'], 201)]);
        $client = (new TestClient())->create(self::BASE, $transport);
        $client->request('post', '/api/fhir/R4/Patient', ['query' => ['_summary' => false], 'body' => [], 'timeout' => 3, 'idempotencyKey' => 'k']);
        $request = $transport->sent[0];
        self::assertSame(['POST', self::BASE . '/api/fhir/R4/Patient?_summary=false', '{}', 3.0, 'k'], [
            $request->method, $request->url, $request->body, $request->timeout, $request->headers['Idempotency-Key'],
        ]);
        foreach (['api/x', '//elsewhere.example/x', '/api/../portal', '/api/x?y=1', '/api/x#y', "/api/\r\nX", '/api/a b', 'https://e.example/'] as $path) {
            try {
                $client->request('GET', $path);
                self::fail("$path was requested.");
            } catch (ValidationException $error) {
                self::assertSame('INVALID_ARGUMENT', $error->errorCode);
            }
        }
        self::assertCount(1, $transport->sent);
    }

    public function testEmptyObjectsInABodyStayObjects(): void
    {
        $transport = new FakeTransport();
        $client = (new TestClient())->create(self::BASE, $transport);
        $client->webhooks->test('whs_1', []);
        $client->healthIds->resolve(['first_name' => 'Ngọc/É', 'extra' => new \stdClass(), 'list' => [], 'weight' => 1.0]);
        self::assertSame(['{}', '{"first_name":"Ngọc/É","extra":{},"list":[],"weight":1.0}'], array_column($transport->sent, 'body'));
    }

    public function testABodyThatIsNoTextIsRefusedWithoutShowingIt(): void
    {
        $client = (new TestClient())->create(self::BASE, $transport = new FakeTransport());
        try {
            $client->healthIds->resolve(['first_name' => "Sikreta\xff"]);
            self::fail('The call was sent.');
        } catch (ValidationException $error) {
            self::assertSame('INVALID_ARGUMENT', $error->errorCode);
            self::assertStringNotContainsString('Sikreta', print_r($error, true));
        }
        self::assertSame([], $transport->sent);
    }

    public static function links(): iterable
    {
        return Vectors::of('paging', 'links');
    }

    /** @dataProvider links */
    public function testNextLink(array $case): void
    {
        $transport = new FakeTransport([FakeTransport::json(['resourceType' => 'Bundle'])]);
        $client = (new TestClient())->create(self::BASE, $transport);
        $bundle = ['link' => [['relation' => 'self', 'url' => '/x'], ['relation' => 'next', 'url' => $case['link']]]];
        try {
            self::assertSame([], iterator_to_array($client->fhir->iterate($bundle)));
            self::assertSame([self::BASE . $case['path']], array_column($transport->sent, 'url'));
        } catch (TransportException $error) {
            self::assertSame([null, 'invalid_response', []], [$case['path'], $error->reason, $transport->sent]);
        }
    }

    public static function bundles(): iterable
    {
        return Vectors::of('paging', 'bundles');
    }

    /** @dataProvider bundles */
    public function testPagesOfABundle(array $case): void
    {
        foreach ([false, true] as $all) {
            $transport = new FakeTransport(array_map(FakeTransport::json(...), $case['pages']));
            $client = (new TestClient())->create(self::BASE, $transport);
            $resources = $all && $case['call'] === 'fhir.search'
                ? $client->fhir->searchAll(...$case['arguments'])
                : $client->fhir->iterate(TestClient::call($client, $case));
            self::assertSame($case['ids'], array_column(iterator_to_array($resources), 'id'));
            $urls = array_map(static fn ($request): string => substr($request->url, strlen(self::BASE)), $transport->sent);
            self::assertSame($case['requests'], array_slice($urls, 1));
        }
    }

    public static function lists(): iterable
    {
        return Vectors::of('paging', 'lists');
    }

    /** @dataProvider lists */
    public function testPagesOfAList(array $case): void
    {
        $transport = new FakeTransport(array_map(FakeTransport::json(...), $case['pages']));
        $client = (new TestClient())->create(self::BASE, $transport);
        self::assertSame($case['ids'], array_column(TestClient::call($client, $case), 'id'));
        $queries = array_map(static fn ($request): array => self::pairs((string) parse_url($request->url, PHP_URL_QUERY)), $transport->sent);
        self::assertSame($case['queries'], $queries);
    }

    public function testRecordsAreIteratedOneTypeAtATime(): void
    {
        $client = (new TestClient())->create(self::BASE, new FakeTransport());
        $this->expectExceptionObject(new ValidationException('type must be one type of records.'));
        $client->records->listAll('CM-TQYE-6SRK-YQ6S', 'all');
    }

    public function testPagesAreFetchedWhenTheyAreNeeded(): void
    {
        $page = ['data' => [['id' => '1']], 'has_more' => true, 'next_cursor' => 'c'];
        $client = (new TestClient())->create(self::BASE, $transport = new FakeTransport([FakeTransport::json($page)]));
        $entries = $client->webhooks->listAll();
        self::assertCount(0, $transport->sent);
        self::assertSame('1', $entries->current()['id']);
        self::assertCount(1, $transport->sent);
        $entries->next();
        self::assertSame('1', $entries->current()['id']);
        self::assertCount(2, $transport->sent);
    }

    /** @return list<array{string, string}> Names and values, decoded */
    private static function pairs(string $query): array
    {
        $pairs = array_map(static fn (string $pair): array => array_map(rawurldecode(...), explode('=', $pair, 2)), explode('&', $query));
        return $query === '' ? [] : $pairs;
    }
}
