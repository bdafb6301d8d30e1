<?php

// A client whose time, waits and random numbers the test states.

declare(strict_types=1);

namespace HealthInterop\Tests\Support;

use HealthInterop\Cache\TokenCache;
use HealthInterop\Internal\Options;
use HealthInterop\Internal\Runtime;
use HealthInterop\ServiceClient;
use HealthInterop\Transport\Transport;

/** Makes clients that never wait. */
final class TestClient
{
    /** @var list<int|float> Seconds that clients waited */
    public array $waits = [];
    /** Seconds on the clock. */
    public float $now = 1000.0;
    /** Unix time at which that clock stood at 0. */
    public float $began = 1_799_999_000.0;

    /** A client with the clock of this test. */
    public function create(string $baseUrl, ?Transport $transport = null, ?callable $logger = null, float $random = 1.0, ?TokenCache $tokenCache = null): ServiceClient
    {
        $options = new Options('client-1', 'secret-of-the-test', 'local', $baseUrl, null, 30, 5, 2, 60, null, $transport, $logger, $tokenCache);
        $runtime = new Runtime(
            fn (): float => $this->now,
            function (float $seconds): void {
                $this->waits[] = $seconds;
                $this->now += $seconds;
            },
            static fn (): float => $random,
            fn (): float => $this->began + $this->now,
        );
        $client = (new \ReflectionClass(ServiceClient::class))->newInstanceWithoutConstructor();
        (fn () => $this->start($options, $runtime))->call($client);
        return $client;
    }

    /**
     * Call a method by the names of the contract, and read an iterator to its end.
     *
     * @param array{call: string, arguments: array<string, mixed>, options?: array<string, mixed>} $call
     */
    public static function call(ServiceClient $client, array $call): mixed
    {
        [$module, $method] = explode('.', $call['call']);
        $arguments = $call['arguments'] + (isset($call['options']) ? ['options' => $call['options']] : []);
        $result = $client->$module->$method(...$arguments);
        return $result instanceof \Generator ? iterator_to_array($result) : $result;
    }
}
