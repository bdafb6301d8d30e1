<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Exception\ServiceException;
use HealthInterop\ServiceClient;
use HealthInterop\Tests\Support\ScriptedServer;
use HealthInterop\Tests\Support\TestClient;
use HealthInterop\Tests\Support\Vectors;
use PHPUnit\Framework\TestCase;

final class ScenariosTest extends TestCase
{
    public static function scenarios(): iterable
    {
        return Vectors::of('scenarios', 'scenarios');
    }

    /** @dataProvider scenarios */
    public function testScenario(array $case): void
    {
        if (ScriptedServer::control() === null) {
            self::markTestSkipped('Needs the scripted server: npm test -- test/clients/php.test.ts');
        }
        $server = ScriptedServer::start($case['id']);
        $test = new TestClient();
        [$client, $error] = $this->play($server, $test, $case);
        $this->compare($case['expected'], $server->received(), $test, $client, $error);
    }

    /** @return array{ServiceClient|null, ServiceException|null} */
    private function play(ScriptedServer $server, TestClient $test, array $case): array
    {
        $client = null;
        try {
            $client = $test->create($server->url);
            // PHP has one thread: what other languages do at the same time happens one after the other.
            $calls = array_merge(...array_fill(0, $case['concurrent'] ?? 1, $case['calls']));
            foreach ($calls as $index => $call) {
                $test->now += $index < count($case['calls']) ? $call['advance'] ?? 0 : 0;
                $result = TestClient::call($client, $call);
                if (array_key_exists('result', $case['expected'])) {
                    self::assertSame($case['expected']['result'], $result);
                }
            }
        } catch (ServiceException $error) {
            self::assertArrayHasKey('error', $case['expected'], $error::class . ': ' . $error->getMessage());
            return [$client, $error];
        }
        self::assertArrayNotHasKey('error', $case['expected']);
        return [$client, null];
    }

    private function compare(array $expected, array $received, TestClient $test, ?ServiceClient $client, ?ServiceException $error): void
    {
        $lines = array_map(static fn (array $request): string => "{$request['method']} {$request['path']}", $received);
        if ($expected['requests'] !== null) {
            self::assertSame($expected['requests'], $lines);
        }
        self::assertEquals($expected['waits'], $test->waits);
        foreach ($expected['error'] ?? [] as $property => $value) {
            match ($property) {
                'class' => self::assertSame(Vectors::exceptionClass($value), $error::class),
                'message' => self::assertSame($value, $error->getMessage()),
                default => self::assertSame($value, $error->$property, $property),
            };
        }
        $calls = array_values(array_filter($received, static fn (array $request): bool => !str_ends_with($request['path'], '/auth/token')));
        $tokens = array_filter(array_map(static fn (array $request): string => str_replace('Bearer ', '', $request['headers']['authorization'] ?? ''), $received));
        $keys = array_column(array_column($calls, 'headers'), 'idempotency-key');
        foreach ($expected as $name => $value) {
            match ($name) {
                'requests', 'waits', 'error', 'result' => null,
                'tokens' => self::assertSame($value, array_values($tokens)),
                'sameKey' => self::assertSame([$value ? 1 : count($calls), count($calls)], [count(array_unique($keys)), count($keys)]),
                'bodies' => self::assertSame($value, array_map(static fn (array $call): mixed => json_decode($call['body'], true), $calls)),
                'tokenRequests' => self::assertCount($value, array_keys($lines, 'POST /api/v1/connect/auth/token', true)),
                'lastResponse' => self::assertSame($value, array_intersect_key(get_object_vars($client->lastResponse), $value)),
            };
        }
        $text = $error === null ? '' : print_r($error, true) . $error;
        foreach (['secret-of-the-test', 'secret page', 'token-1', 'Potassium'] as $secret) {
            self::assertStringNotContainsString($secret, $text);
        }
    }
}
