<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\ServiceClient;
use HealthInterop\Tests\Support\ScriptedServer;
use HealthInterop\Tests\Support\TestClient;
use PHPUnit\Framework\TestCase;

/** docs/sdk.md: the calls of one row are the same request, whether curl or this library makes them. */
final class CallsTableTest extends TestCase
{
    private const HEALTH_ID = 'CM-TQYE-6SRK-YQ6S';

    public static function rows(): iterable
    {
        $lines = preg_grep('/^\|.*\|$/', explode("\n", (string) file_get_contents(dirname(__DIR__, 3) . '/docs/sdk.md'))) ?: [];
        $columns = null;
        foreach ($lines as $line) {
            $cells = array_map(trim(...), explode('|', trim($line, '|')));
            if ($cells[0] === 'to') {
                $columns = array_flip($cells);
            } elseif ($columns !== null && count($cells) === count($columns) && !str_starts_with($cells[0], '-')) {
                yield $cells[0] => [trim($cells[$columns['curl']], '`'), trim($cells[$columns['PHP']], '`')];
            }
        }
    }

    /** @dataProvider rows */
    public function testRow(string $curl, string $php): void
    {
        if (ScriptedServer::control() === null) {
            self::markTestSkipped('Needs the scripted server: npm test -- test/clients/php.test.ts');
        }
        $byCurl = $this->requestsOf(static function (string $url) use ($curl): void {
            $environment = ['API' => "$url/api", 'AUTH' => 'Authorization: Bearer x', 'HEALTH_ID' => self::HEALTH_ID] + getenv();
            $process = proc_open(['sh', '-c', str_replace('curl ', 'curl -s ', $curl)], [1 => ['file', '/dev/null', 'w']], $pipes, null, $environment);
            self::assertSame(0, proc_close($process));
        });
        $byLibrary = $this->requestsOf(static function (string $url) use ($php): void {
            self::evaluate((new TestClient())->create($url), $php);
        });
        self::assertCount(1, $byCurl);
        self::assertSame($byCurl, $byLibrary);
    }

    private static function evaluate(ServiceClient $client, string $code): void
    {
        eval('return ' . str_replace('HEALTH_ID', var_export(self::HEALTH_ID, true), $code) . ';');
    }

    /** @return list<array<string, mixed>> The requests, but those for a token */
    private function requestsOf(callable $work): array
    {
        $server = ScriptedServer::start(['replies' => [['status' => 200, 'body' => new \stdClass()]]]);
        $work($server->url);
        $calls = array_filter($server->received(), static fn (array $request): bool => !str_ends_with($request['path'], '/auth/token'));
        return array_values(array_map(static fn (array $request): array => [
            'method' => $request['method'],
            'path' => $request['path'],
            'query' => $request['query'],
            'body' => json_decode($request['body'], true),
        ], $calls));
    }
}
