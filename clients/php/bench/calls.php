<?php

// Calls a second and CPU time per call: this library against ext-curl alone, on one kept connection to a server that
// answers at once. php bench/calls.php [ROUNDS] alternates both, 100 calls a round, and prints the median and the best
// round (which other work on the machine disturbs least). It needs node.

declare(strict_types=1);

use HealthInterop\ServiceClient;

require dirname(__DIR__) . '/autoload.php';

/**
 * Start a server that answers every request with the same small JSON.
 *
 * @return array{resource, int} Its process and port
 */
function startServer(): array
{
    $program = <<<'JS'
        const body = JSON.stringify({ active: true, scopes: ['patients:read'], client_id: 'client-1', expires_at: '2030-01-01T00:00:00Z' })
        const token = JSON.stringify({ access_token: 'a'.repeat(900), token_type: 'Bearer', expires_in: 3600, scope: '' })
        const server = require('node:http').createServer((request, response) => {
          const text = request.url.endsWith('/token') ? token : body
          request.resume()
          response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text),
            'x-request-id': 'req-0000000000000001', 'ratelimit-policy': '"default";q=600;w=60', ratelimit: '"default";r=599;t=1' })
          response.end(text)
        })
        server.listen(0, '127.0.0.1', () => console.log(server.address().port))
        JS;
    $process = proc_open(['node', '-e', $program], [1 => ['pipe', 'w']], $pipes);
    return [$process, (int) fgets($pipes[1], 64)];
}

/** Microseconds of CPU of this process, user and system. */
function cpu(): float
{
    $usage = getrusage();
    $seconds = $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'];
    return $seconds * 1e6 + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'];
}

/** @return array{float, float} Microseconds per call, elapsed and CPU */
function measure(callable $call, int $calls): array
{
    [$start, $cpu] = [hrtime(true), cpu()];
    for ($index = 0; $index < $calls; $index++) {
        $call();
    }
    return [(hrtime(true) - $start) / 1e3 / $calls, (cpu() - $cpu) / $calls];
}

/** @param list<float> $values */
function median(array $values): float
{
    sort($values);
    return $values[intdiv(count($values), 2)];
}

$rounds = (int) ($argv[1] ?? 100);
[$server, $port] = startServer();
$client = new ServiceClient('client-1', 'secret', 'local', "http://127.0.0.1:$port");
$handle = curl_init();
$headers = ['Authorization: Bearer ' . str_repeat('a', 900), 'Accept: application/json', 'User-Agent: bench'];
$ways = [
    'ext-curl' => static function () use ($handle, $port, $headers): array {
        curl_setopt_array($handle, [
            CURLOPT_URL => "http://127.0.0.1:$port/api/v1/sdk/token/introspect",
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT_MS => 30000,
        ]);
        $body = curl_exec($handle);
        if (curl_getinfo($handle, CURLINFO_RESPONSE_CODE) !== 200) {
            throw new RuntimeException('The server failed.');
        }
        return json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    },
    'library' => static fn (): array => $client->tokens->introspect(),
];
foreach ($ways as $way) {
    measure($way, 200);
}
$results = [];
for ($round = 0; $round < $rounds; $round++) {
    foreach ($round % 2 === 0 ? $ways : array_reverse($ways) as $name => $way) {
        [$results[$name]['elapsed'][], $results[$name]['cpu'][]] = measure($way, 100);
    }
}
proc_terminate($server);
foreach ($results as $name => ['elapsed' => $elapsed, 'cpu' => $cpu]) {
    $format = "%-9s %6.0f calls/s  %6.1f us CPU a call (best round: %6.0f calls/s, %6.1f us)\n";
    printf($format, $name, 1e6 / median($elapsed), median($cpu), 1e6 / min($elapsed), min($cpu));
}
[$library, $bare] = [$results['library']['cpu'], $results['ext-curl']['cpu']];
printf("CPU: %.2fx (best round: %.2fx)\n", median($library) / median($bare), min($library) / min($bare));
