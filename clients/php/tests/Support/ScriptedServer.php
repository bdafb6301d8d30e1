<?php

// The control of the scripted server (test/clients/support/scripted-server.ts).

declare(strict_types=1);

namespace HealthInterop\Tests\Support;

/** One server of its own that plays one scenario. */
final class ScriptedServer
{
    private function __construct(public readonly string $url, private readonly string $receivedUrl)
    {
    }

    /** The address of the control, null if none was started. */
    public static function control(): ?string
    {
        $address = getenv('SCRIPTED_SERVER');
        return $address === false || $address === '' ? null : $address;
    }

    /** Start a scenario by its id, or one that is given as a script. */
    public static function start(string|array $scenario): self
    {
        $path = is_string($scenario) ? "/scenarios/$scenario" : '/scripts';
        $reply = self::exchange('POST', self::control() . $path, is_string($scenario) ? '' : json_encode($scenario, JSON_THROW_ON_ERROR));
        return new self($reply['url'], $reply['received']);
    }

    /** @return list<array{method: string, path: string, query: string, headers: array<string, string>, body: string}> */
    public function received(): array
    {
        return self::exchange('GET', $this->receivedUrl, '');
    }

    private static function exchange(string $method, string $url, string $body): array
    {
        $http = ['method' => $method, 'header' => 'Content-Type: application/json', 'content' => $body, 'timeout' => 10];
        $reply = file_get_contents($url, false, stream_context_create(['http' => $http]));
        return json_decode((string) $reply, true, flags: JSON_THROW_ON_ERROR);
    }
}
