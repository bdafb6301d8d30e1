<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Webhooks;
use PHPUnit\Framework\TestCase;

/** The sample receiver, in PHP's own web server. */
final class ReceiverTest extends TestCase
{
    private const SECRETS = ['whsec_new_of_the_test', 'whsec_old_of_the_test'];

    private string $inbox;
    private int $port;
    /** @var resource */
    private $process;

    protected function setUp(): void
    {
        $this->inbox = sys_get_temp_dir() . '/receiver-' . bin2hex(random_bytes(6));
        mkdir($this->inbox);
        $probe = stream_socket_server('tcp://127.0.0.1:0');
        $this->port = (int) substr((string) strrchr((string) stream_socket_get_name($probe, false), ':'), 1);
        fclose($probe);
        $command = [PHP_BINARY, '-S', "127.0.0.1:$this->port", dirname(__DIR__) . '/samples/receiver.php'];
        $environment = ['WEBHOOK_SECRET' => implode(',', self::SECRETS), 'WEBHOOK_INBOX' => $this->inbox] + getenv();
        $this->process = proc_open($command, [1 => ['file', '/dev/null', 'w'], 2 => ['pipe', 'w']], $pipes, null, $environment);
        do {
            $line = fgets($pipes[2]);
        } while ($line !== false && !str_contains($line, 'started'));
    }

    protected function tearDown(): void
    {
        proc_terminate($this->process);
        proc_close($this->process);
        array_map(unlink(...), glob("$this->inbox/*") ?: []);
        rmdir($this->inbox);
    }

    public function testItKeepsAnEventOnceAndRefusesWhatIsNotSigned(): void
    {
        $event = ['id' => 'evt_1', 'type' => 'lab_result.released', 'data' => ['test_name' => 'Créatinine']];
        foreach ([...self::SECRETS, self::SECRETS[0]] as $secret) {
            ['body' => $body, 'header' => $header] = Webhooks::signTestPayload($event, $secret);
            self::assertSame([200, '{"received":true}'], $this->deliver($body, $header));
        }
        self::assertSame([$body], array_map(file_get_contents(...), glob("$this->inbox/*") ?: []));
        self::assertSame([400, '{"received":false,"reason":"missing_header"}'], $this->deliver($body, null));
        self::assertSame([400, '{"received":false,"reason":"no_match"}'], $this->deliver("$body ", $header));
        ['header' => $old] = Webhooks::signTestPayload($body, self::SECRETS[0], time() - 600);
        self::assertSame([400, '{"received":false,"reason":"timestamp_out_of_range"}'], $this->deliver($body, $old));
        ['body' => $other, 'header' => $header] = Webhooks::signTestPayload(['id' => '../evt', 'type' => 'x'], self::SECRETS[1]);
        self::assertSame([200, '{"received":true}'], $this->deliver($other, $header));
        self::assertCount(2, glob("$this->inbox/*") ?: []);
    }

    public function testAnEventThatItCannotKeepIsSentAgain(): void
    {
        array_map(unlink(...), glob("$this->inbox/*") ?: []);
        rmdir($this->inbox);
        ['body' => $body, 'header' => $header] = Webhooks::signTestPayload(['id' => 'evt_1', 'type' => 'x'], self::SECRETS[0]);
        self::assertSame([500, '{"received":false}'], $this->deliver($body, $header));
        mkdir($this->inbox);
    }

    /** @return array{int, string} Status and body */
    private function deliver(string $body, ?string $header): array
    {
        $handle = curl_init("http://127.0.0.1:$this->port/webhooks");
        curl_setopt_array($handle, [
            CURLOPT_POSTFIELDS => $body,
            CURLOPT_HTTPHEADER => $header === null ? [] : ["X-Service-Signature: $header", 'Content-Type: application/json'],
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => 10,
        ]);
        $reply = curl_exec($handle);
        return [curl_getinfo($handle, CURLINFO_RESPONSE_CODE), (string) $reply];
    }
}
