<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Exception\TransportException;
use HealthInterop\ServiceClient;
use HealthInterop\Tests\Support\ScriptedServer;
use HealthInterop\Transport\CurlTransport;
use HealthInterop\Transport\Request;
use HealthInterop\Transport\Response;
use HealthInterop\Transport\ResponseBuffer;
use PHPUnit\Framework\TestCase;

/** ext-curl as this library sets it. */
final class CurlTransportTest extends TestCase
{
    protected function setUp(): void
    {
        if (ScriptedServer::control() === null) {
            self::markTestSkipped('Needs the scripted server: npm test -- test/clients/php.test.ts');
        }
    }

    public function testAResponseBeyondTheLimitIsRefused(): void
    {
        $server = ScriptedServer::start(['replies' => [
            ['status' => 200, 'text' => str_repeat('x', 1000)],
            ['status' => 200, 'text' => str_repeat('x', 1001)],
            ['status' => 200, 'text' => 'short'],
        ]]);
        $transport = new CurlTransport(maxResponseBytes: 1000);
        self::assertSame(1000, strlen($this->get($transport, $server)->body));
        try {
            $this->get($transport, $server);
            self::fail('The response was accepted.');
        } catch (TransportException $error) {
            self::assertSame(['invalid_response', 'The response is too large.'], [$error->reason, $error->getMessage()]);
        }
        self::assertSame('short', $this->get($transport, $server)->body);
    }

    public function testHeadersAreReadByLowerCaseNames(): void
    {
        $server = ScriptedServer::start(['replies' => [['status' => 202, 'headers' => ['X-Request-Id' => ' req-1 ', 'Retry-After' => '7'], 'text' => 'é']]]);
        $response = $this->get(new CurlTransport(), $server);
        self::assertSame([202, 'req-1', '7', null, 'é'], [
            $response->status, $response->header('x-request-id'), $response->header('retry-after'), $response->header('x-other'), $response->body,
        ]);
    }

    public function testTheLastHeadCountsAndTrailersAreHeaders(): void
    {
        $buffer = new ResponseBuffer();
        $buffer->head = "HTTP/1.1 100 Continue\r\n\r\nHTTP/2 201 \r\nVary: a\r\nvary:b\r\nX-Colon: a:b\r\n\r\nX-Trailer: c\r\n\r\n";
        $buffer->body = 'x';
        $response = $buffer->take();
        self::assertSame([201, 'a, b', 'a:b', 'c', 'x', ''], [
            $response->status, $response->header('vary'), $response->header('x-colon'), $response->header('x-trailer'), $response->body, $buffer->body,
        ]);
        $buffer->head = "HTTP/1.1 204 No Content\r\n\r\n";
        self::assertSame(204, $buffer->take()->status);
    }

    public function testMethodsAndBodiesDoNotLeakIntoTheNextRequest(): void
    {
        $server = ScriptedServer::start(['replies' => [['status' => 200, 'text' => '{}']]]);
        $transport = new CurlTransport();
        $send = static fn (string $method, ?string $body) => $transport->send(
            new Request($method, "$server->url/x", $body === null ? [] : ['Content-Type' => 'application/json'], $body, 5, 5),
        );
        foreach ([['POST', '{"a":1}'], ['GET', null], ['POST', null], ['PATCH', '{"b":2}'], ['DELETE', null], ['HEAD', null], ['PUT', '{}'], ['POST', '{"c":3}'], ['GET', null]] as [$method, $body]) {
            self::assertSame(200, $send($method, $body)->status);
        }
        self::assertSame(
            ['POST {"a":1} application/json', 'GET  -', 'POST  -', 'PATCH {"b":2} application/json', 'DELETE  -', 'HEAD  -', 'PUT {} application/json', 'POST {"c":3} application/json', 'GET  -'],
            array_map(static fn (array $request): string => "{$request['method']} {$request['body']} " . ($request['headers']['content-type'] ?? '-'), $server->received()),
        );
        self::assertSame('0', $server->received()[2]['headers']['content-length']);
    }

    public function testOneConnectionServesAllRequestsButAPatchHasItsOwn(): void
    {
        $transport = new CurlTransport();
        $server = ScriptedServer::start('plain');
        $opened = [];
        foreach (['GET', 'GET', 'POST', 'PATCH', 'GET'] as $method) {
            $transport->send(new Request($method, "$server->url/x", [], null, 5, 5));
            $opened[] = (fn (): int => curl_getinfo($this->handle, CURLINFO_NUM_CONNECTS))->call($transport);
        }
        self::assertSame([1, 0, 0, 1, 0], $opened);
    }

    public function testATransportThatIsNoLongerUsedClosesItsConnectionAtOnce(): void
    {
        $transport = new CurlTransport();
        $this->get($transport, ScriptedServer::start('plain'));
        $reference = \WeakReference::create($transport);
        $transport = null;
        self::assertNull($reference->get());
    }

    public function testAnotherSchemeIsNotSpoken(): void
    {
        $this->expectException(TransportException::class);
        (new CurlTransport())->send(new Request('GET', 'file:///etc/hostname', [], null, 5, 5));
    }

    public function testAPortWhereNobodyListensIsAConnectionFailure(): void
    {
        try {
            (new CurlTransport())->send(new Request('GET', 'http://127.0.0.1:1/secret', [], null, 5, 5));
            self::fail('Somebody answered.');
        } catch (TransportException $error) {
            self::assertSame('connection', $error->reason);
            self::assertStringNotContainsString('secret', $error->getMessage());
        }
    }

    public function testAProxyOfTheEnvironmentSeesNothingOfAServiceOnThisMachine(): void
    {
        $proxy = ScriptedServer::start(['replies' => [['status' => 418, 'text' => '{}']]]);
        $server = ScriptedServer::start('plain');
        putenv("http_proxy=$proxy->url");
        try {
            (new ServiceClient('client-1', 'secret', 'local', $server->url))->tokens->introspect();
        } finally {
            putenv('http_proxy');
        }
        self::assertSame([], $proxy->received());
        self::assertCount(2, $server->received());
    }

    public function testAChildProcessOpensAConnectionOfItsOwn(): void
    {
        if (!function_exists('pcntl_fork')) {
            self::markTestSkipped('Needs ext-pcntl.');
        }
        $server = ScriptedServer::start('plain');
        $client = new ServiceClient('client-1', 'secret', 'local', $server->url);
        $child = pcntl_fork();
        if ($child === 0) {
            $fine = $client->tokens->introspect() === ['active' => true];
            posix_kill(posix_getpid(), $fine ? SIGTERM : SIGKILL);
        }
        self::assertSame(['active' => true], $client->tokens->introspect());
        pcntl_waitpid($child, $status);
        self::assertSame(SIGTERM, pcntl_wtermsig($status));
        self::assertCount(3, $server->received());
    }

    private function get(CurlTransport $transport, ScriptedServer $server): Response
    {
        return $transport->send(new Request('GET', "$server->url/x", [], null, 5, 5));
    }
}
