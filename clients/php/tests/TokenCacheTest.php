<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Cache\Apcu;
use HealthInterop\Cache\ApcuTokenCache;
use HealthInterop\Cache\Psr16TokenCache;
use HealthInterop\Cache\TokenCache;
use HealthInterop\Exception\ValidationException;
use HealthInterop\ServiceClient;
use HealthInterop\Tests\Support\FakeTransport;
use HealthInterop\Tests\Support\MemoryCache;
use HealthInterop\Tests\Support\ScriptedServer;
use HealthInterop\Tests\Support\TestClient;
use HealthInterop\Tests\Support\Vectors;
use PHPUnit\Framework\TestCase;

/** A token cache: one token for the processes that start one after the other. */
final class TokenCacheTest extends TestCase
{
    private const BASE = 'https://hie.example.org';
    private const NOW = 1_800_000_000;
    private const KEPT = '{"access_token":"kept-1","expires_at":1800003600}';
    private const NEW = 'token-of-the-test';
    private const REFUSED = ['status' => 401, 'body' => ['error_code' => 'TOKEN_EXPIRED', 'message' => 'No.']];

    protected function tearDown(): void
    {
        Apcu::$loaded = true;
        Apcu::$entries = [];
    }

    public function testTwoClientsOneAfterTheOtherMakeOneTokenRequest(): void
    {
        $cache = new MemoryCache();
        self::assertSame([null, self::NEW, self::NEW], [...self::use($cache), ...self::use($cache)]);
        self::assertSame([null, 'token-1', 'token-1'], $this->play(['replies' => [['status' => 200, 'body' => ['id' => '1']]]], new MemoryCache(), 2));
    }

    public static function keys(): iterable
    {
        return Vectors::of('token-cache', 'keys');
    }

    /** @dataProvider keys */
    public function testKey(array $case): void
    {
        $cache = new MemoryCache();
        new ServiceClient(...$case['options'], environment: 'production', transport: new FakeTransport(), tokenCache: $cache);
        self::assertSame([$case['key']], array_column($cache->sets, 0));
    }

    public static function values(): iterable
    {
        return Vectors::of('token-cache', 'values');
    }

    /** @dataProvider values */
    public function testValue(array $case): void
    {
        $expected = $case['token'] === null ? [null, self::NEW] : [$case['token']];
        self::assertSame($expected, self::use(new MemoryCache($case['value'])));
    }

    public static function writes(): iterable
    {
        return Vectors::of('token-cache', 'writes');
    }

    /** @dataProvider writes */
    public function testWrite(array $case): void
    {
        $cache = new MemoryCache();
        self::use($cache, new FakeTransport([], $case['expiresIn']), $case['now']);
        $kept = array_map(static fn (array $set): array => [json_decode(str_replace(self::NEW, 'token-1', $set[1]), true), $set[2]], $cache->sets);
        self::assertSame($case['value'] === null ? [] : [[$case['value'], $case['seconds']]], $kept);
    }

    public function testATokenThatTheServiceRefusesIsReplacedAndTheNextClientHasTheNewOne(): void
    {
        $script = ['byToken' => ['kept-1' => self::REFUSED], 'replies' => [['status' => 200, 'body' => ['id' => '1']]]];
        self::assertSame(['kept-1', null, 'token-1', 'token-1'], $this->play($script, new MemoryCache(self::KEPT), 2));
    }

    public function testATokenThatTheServiceRefusedIsNotReadBackWhileThereIsNoOther(): void
    {
        $failed = ['status' => 400, 'body' => ['error_code' => 'INVALID_SCOPE', 'message' => 'No.']];
        $script = ['tokenReplies' => [$failed, null], 'byToken' => ['kept-1' => self::REFUSED], 'replies' => [['status' => 200, 'body' => ['id' => '1']]]];
        self::assertSame(['kept-1', null, null, 'token-1'], $this->play($script, new MemoryCache(self::KEPT), 1));
    }

    public function testATokenIsRenewedAMinuteBeforeItExpiresWithTheOneThatAnotherProcessHasKept(): void
    {
        [$cache, $other, $test, $transport] = [new MemoryCache(self::KEPT), new MemoryCache(), new TestClient(), new FakeTransport()];
        $client = $test->create(self::BASE, $transport, tokenCache: $cache);
        $test->now += 3539;
        $client->tokens->introspect();
        $test->now += 1;
        self::use($other, new FakeTransport(), self::NOW + 3540);
        $cache->entries = $other->entries;
        $client->tokens->introspect();
        self::assertSame(['kept-1', self::NEW], self::tokens($transport));
    }

    public function testACacheThatThrowsDoesNotBreakACall(): void
    {
        foreach ([[true, false], [false, true], [true, true]] as $throws) {
            $cache = new class (...$throws) implements TokenCache {
                public function __construct(private readonly bool $get, private readonly bool $set)
                {
                }

                public function get(string $key): ?string
                {
                    return $this->get ? throw new \Error('The cache is away.') : null;
                }

                public function set(string $key, string $value, int $seconds): void
                {
                    $this->set && throw new \RuntimeException('The cache is away.');
                }
            };
            self::assertSame([null, self::NEW], self::use($cache));
        }
    }

    public function testAPsr16CacheKeepsTheTokenUnderAKeyThatEveryImplementationSupports(): void
    {
        $cache = new MemoryCache();
        $adapter = new Psr16TokenCache($cache->psr16());
        self::assertSame([null, self::NEW, self::NEW], [...self::use($adapter), ...self::use($adapter)]);
        $adapter->set('another key', 'x', 1);
        self::assertSame([3540, 1], array_column($cache->sets, 2));
        self::assertCount(2, $cache->entries);
        self::assertStringNotContainsString(self::NEW, print_r($adapter, true));
        self::assertSame([null, self::NEW], self::use(new Psr16TokenCache((new MemoryCache('x'))->psr16())));
    }

    public function testApcuKeepsTheToken(): void
    {
        $cache = new ApcuTokenCache();
        self::assertSame([null, self::NEW, self::NEW], [...self::use($cache), ...self::use($cache)]);
        self::assertSame([3540], array_column(Apcu::$entries, 1));
    }

    public function testApcuThatIsAbsentIsAWrongOption(): void
    {
        Apcu::$loaded = false;
        $this->expectExceptionObject(new ValidationException('ApcuTokenCache needs the extension apcu.'));
        new ApcuTokenCache();
    }

    public function testDumpsOfAClientShowNoToken(): void
    {
        $client = (new TestClient())->create(self::BASE, new FakeTransport(), tokenCache: new ApcuTokenCache());
        ob_start();
        var_dump($client);
        self::assertStringNotContainsString(self::NEW, ob_get_clean() . print_r($client, true) . var_export($client, true));
    }

    /**
     * Make a client that calls the service once.
     *
     * @return list<string|null> The tokens that were sent; null: a request for one
     */
    private static function use(TokenCache $cache, FakeTransport $transport = new FakeTransport(), float $now = self::NOW): array
    {
        $test = new TestClient();
        $test->began = $now - $test->now;
        $test->create(self::BASE, $transport, tokenCache: $cache)->tokens->introspect();
        return [...array_fill(0, count($transport->tokenRequests), null), ...self::tokens($transport)];
    }

    /** @return list<string> */
    private static function tokens(FakeTransport $transport): array
    {
        return array_map(static fn ($request): string => substr($request->headers['Authorization'], strlen('Bearer ')), $transport->sent);
    }

    /**
     * Make clients one after the other, each with one call, which is made again if no token was to be had.
     *
     * @return list<string|null> The tokens that the scripted server received
     */
    private function play(array $script, TokenCache $cache, int $clients): array
    {
        if (ScriptedServer::control() === null) {
            self::markTestSkipped('Needs the scripted server: npm test -- test/clients/php.test.ts');
        }
        $server = ScriptedServer::start($script);
        for ($i = 0; $i < $clients; $i++) {
            $client = (new TestClient())->create($server->url, tokenCache: $cache);
            try {
                $client->tokens->introspect();
            } catch (ValidationException) {
                $client->tokens->introspect();
            }
        }
        $headers = array_column($server->received(), 'headers');
        return array_map(static fn (array $each): ?string => isset($each['authorization']) ? substr($each['authorization'], strlen('Bearer ')) : null, $headers);
    }
}
