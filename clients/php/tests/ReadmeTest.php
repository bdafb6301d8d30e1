<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Tests\Support\ScriptedServer;
use HealthInterop\Webhooks;
use PHPUnit\Framework\TestCase;

/** Every piece of PHP in the documents runs. */
final class ReadmeTest extends TestCase
{
    private const PRELUDE = <<<'PHP'
        error_reporting(E_ALL);
        set_error_handler(static fn (int $level, string $message) => throw new ErrorException($message));
        require '%1$s/autoload.php';
        array_map(static fn (string $file) => require_once "%1$s/tests/Support/$file.php", ['Psr', 'Apcu', 'MemoryCache']);
        $cache = (new HealthInterop\Tests\Support\MemoryCache())->psr16();
        $client = new HealthInterop\ServiceClient('client-1', 'secret', 'local');
        PHP;

    /** Answers all calls of the documents. */
    private const REPLY = [
        'resourceType' => 'Bundle',
        'health_id' => 'CM-TQYE-6SRK-YQ6S',
        'status' => 'found',
        'resource' => 'DiagnosticReport/1',
        'webhook_secret' => 'whsec_of_the_test',
        'active_medications' => [['id' => '1']],
        'data' => ['lab_results' => [['id' => '1']]],
        'has_more' => false,
        'entry' => [['resource' => ['resourceType' => 'Observation', 'id' => '1']]],
    ];

    public static function snippets(): iterable
    {
        foreach (['clients/php/README.md', 'docs/sdk.md'] as $file) {
            $text = (string) @file_get_contents(dirname(__DIR__, 3) . "/$file");
            preg_match_all('/^```php\n(.*?)^```$/ms', $text, $blocks);
            foreach ($blocks[1] as $number => $code) {
                yield sprintf('%s, piece %d: %s', $file, $number + 1, strtok($code, "\n")) => [$code];
            }
        }
    }

    /** @dataProvider snippets */
    public function testSnippet(string $code): void
    {
        if (ScriptedServer::control() === null) {
            self::markTestSkipped('Needs the scripted server: npm test -- test/clients/php.test.ts');
        }
        $server = ScriptedServer::start(['replies' => [['status' => 200, 'body' => self::REPLY]]]);
        ['body' => $body, 'header' => $header] = Webhooks::signTestPayload(['id' => 'evt_1', 'type' => 'x'], 'whsec_of_the_test');
        [$output, $errors, $status] = $this->execute(self::source($code), $body, [
            'HEALTH_INTEROP_BASE_URL' => $server->url,
            'HEALTH_INTEROP_CLIENT_ID' => 'client-1',
            'HEALTH_INTEROP_CLIENT_SECRET' => 'secret',
            'WEBHOOK_SECRET' => 'whsec_of_the_test',
            'HTTP_X_SERVICE_SIGNATURE' => $header,
        ]);
        self::assertSame([0, ''], [$status, $errors], $output);
    }

    /** The imports of a piece come first; a receiver reads its body from standard input. */
    private static function source(string $code): string
    {
        preg_match_all('/^use [^;]+;\n/m', $code, $imports);
        $rest = str_replace($imports[0], '', $code);
        $rest = str_replace(['php://input', "require 'clients/php/autoload.php';"], ['php://stdin', ''], $rest);
        return "<?php\ndeclare(strict_types=1);\n" . implode('', $imports[0]) . sprintf(self::PRELUDE, dirname(__DIR__)) . "\n" . $rest . "\nexit(http_response_code() === 400 ? 1 : 0);\n";
    }

    /**
     * @param array<string, string> $environment
     * @return array{string, string, int} Output, errors and exit code
     */
    private function execute(string $source, string $input, array $environment): array
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'snippet');
        file_put_contents($file, $source);
        $command = [PHP_BINARY, '-d', 'display_errors=stderr', '-d', 'error_log=/dev/null', '-d', 'variables_order=EGPCS', $file];
        $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes, null, $environment + getenv());
        fwrite($pipes[0], $input);
        fclose($pipes[0]);
        $output = [(string) stream_get_contents($pipes[1]), (string) stream_get_contents($pipes[2])];
        $status = proc_close($process);
        unlink($file);
        return [...$output, $status];
    }
}
