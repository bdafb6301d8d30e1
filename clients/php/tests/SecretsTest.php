<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Exception\TransportException;
use HealthInterop\Internal\Secret;
use HealthInterop\ServiceClient;
use HealthInterop\Tests\Support\FakeTransport;
use HealthInterop\Tests\Support\TestClient;
use HealthInterop\Transport\CurlTransport;
use HealthInterop\Transport\Request;
use HealthInterop\Transport\Response;
use PHPUnit\Framework\TestCase;

/** No dump, log record or exception shows a secret, a token or a body. */
final class SecretsTest extends TestCase
{
    private const SECRETS = ['secret-of-the-test', 'token-of-the-test', 'Sikreta', 'whsec_of_the_test'];

    public function testDumpsOfAClientShowNeitherSecretNorToken(): void
    {
        $client = (new TestClient())->create('https://hie.example.org', new FakeTransport());
        $client->healthIds->resolve(['first_name' => 'Sikreta']);
        foreach (self::dumps($client) as $how => $text) {
            $this->assertHides($text, $how);
        }
        foreach (self::dumps(new Secret('secret-of-the-test')) as $how => $text) {
            $this->assertHides($text, $how);
        }
    }

    public function testDumpsOfARequestAndAResponseShowNeitherHeadersNorBody(): void
    {
        $request = new Request('POST', 'https://hie.example.org/Sikreta', ['Authorization' => 'Bearer token-of-the-test'], 'Sikreta', 1, 1);
        foreach ([$request, new Response(200, [], 'Sikreta')] as $value) {
            $this->assertHides(print_r($value, true), 'print_r');
        }
    }

    public function testNothingOfItCanBeStored(): void
    {
        $client = (new TestClient())->create('https://hie.example.org', new FakeTransport());
        foreach ([$client, new Secret('x'), new CurlTransport(), $client->healthIds] as $value) {
            try {
                serialize($value);
                self::fail($value::class . ' was serialized.');
            } catch (\LogicException | \Exception $error) {
                self::assertStringContainsString('cannot be serialized', $error->getMessage());
            }
        }
        foreach ([ServiceClient::class, Secret::class, CurlTransport::class, \HealthInterop\Webhooks::class] as $class) {
            try {
                unserialize(sprintf('O:%d:"%s":0:{}', strlen($class), $class));
                self::fail("$class was unserialized.");
            } catch (\LogicException $error) {
                self::assertStringContainsString('cannot be unserialized', $error->getMessage());
            }
        }
    }

    public function testExceptionsShowNoArguments(): void
    {
        $answers = [FakeTransport::json(['error_code' => 'VALIDATION_FAILED', 'message' => 'No.'], 422)];
        $client = (new TestClient())->create('https://hie.example.org', new FakeTransport($answers));
        foreach ([
            fn () => $client->healthIds->resolve(['first_name' => 'Sikreta']),
            fn () => $client->request('POST', '/api/v1/x', ['body' => ['first_name' => 'Sikreta']]),
            fn () => \HealthInterop\Webhooks::verifySignature('Sikreta', 't=1,v1=0', 'whsec_of_the_test'),
            fn () => new ServiceClient('c', 'secret-of-the-test', 'nowhere'),
        ] as $act) {
            try {
                $act();
                self::fail('It went well.');
            } catch (ServiceException $error) {
                foreach (self::dumps($error) as $how => $text) {
                    $this->assertHides($text, $how);
                }
                self::assertSame([], array_column($error->getTrace(), 'args'));
            }
        }
    }

    public function testALoggerReceivesOneRecordPerAttemptWithoutAnythingThatWasSent(): void
    {
        $records = [];
        $answers = [
            new TransportException('The service did not answer in time.', 'timeout'),
            FakeTransport::json(['error_code' => 'UNAVAILABLE', 'message' => 'Sikreta'], 503, ['x-request-id' => 'req-00000001']),
            FakeTransport::json(['ok' => true]),
        ];
        $logger = static function (array $record) use (&$records): void {
            $records[] = $record;
        };
        $client = (new TestClient())->create('https://hie.example.org', new FakeTransport($answers), $logger);
        $client->fhir->patientSearch('cm tqye 6srk yq6s', 'Condition', ['code' => 'Sikreta']);
        $client->fhir->read('Patient', 'Sikreta');
        $client->webhooks->get('Sikreta');
        $client->request('GET', '/api/v1/connect/patient/CM-TQYE-6SRK-YQ6S/records', ['query' => ['q' => 'Sikreta']]);
        $client->request('GET', '/api/fhir/R4/Patient/Sikreta/_history/7');
        $bundle = ['link' => [['relation' => 'next', 'url' => '/api/v1/sdk/patients/CM-TQYE-6SRK-YQ6S/fhir/$everything?_cursor=Sikreta']]];
        iterator_to_array($client->fhir->iterate($bundle));
        $this->assertHides(json_encode($records, JSON_THROW_ON_ERROR), 'records');
        self::assertSame([
            'POST /api/v1/connect/auth/token 200 1 ',
            'GET /api/v1/sdk/patients/{health_id}/fhir/Condition  1 TransportException',
            'GET /api/v1/sdk/patients/{health_id}/fhir/Condition 503 2 ServerException',
            'GET /api/v1/sdk/patients/{health_id}/fhir/Condition 200 3 ',
            'GET /api/fhir/R4/Patient/{id} 200 1 ',
            'GET /api/v1/connect/webhooks/subscriptions/{subscription_id} 200 1 ',
            'GET /api/v1/connect/patient/{health_id}/records 200 1 ',
            'GET /api/fhir/R4/Patient/{id}/_history/{id} 200 1 ',
            'GET /api/v1/sdk/patients/{health_id}/fhir/$everything 200 1 ',
        ], array_map(static fn (array $r): string => "{$r['method']} {$r['path']} {$r['status']} {$r['attempt']} {$r['error']}", $records));
        self::assertSame('req-00000001', $records[2]['requestId']);
        self::assertSame(['method', 'path', 'status', 'requestId', 'attempt', 'durationMs', 'error'], array_keys($records[0]));
    }

    public function testALoggerThatThrowsDoesNotBreakTheCall(): void
    {
        $logger = static fn (): never => throw new \RuntimeException('The disk is full.');
        $client = (new TestClient())->create('https://hie.example.org', new FakeTransport(), $logger);
        self::assertSame([], $client->tokens->introspect());
    }

    /** @return iterable<string, string> */
    private static function dumps(object $value): iterable
    {
        yield 'print_r' => print_r($value, true);
        ob_start();
        var_dump($value);
        yield 'var_dump' => (string) ob_get_clean();
        if (!$value instanceof \Throwable && !$value instanceof ServiceClient) {
            yield 'var_export' => var_export($value, true);
        }
        yield 'json_encode' => (string) json_encode($value, JSON_PARTIAL_OUTPUT_ON_ERROR);
        yield 'cast' => print_r((array) $value, true);
        if ($value instanceof \Stringable) {
            yield 'string' => (string) $value;
        }
    }

    private function assertHides(string $text, string $how): void
    {
        foreach (self::SECRETS as $secret) {
            self::assertStringNotContainsString($secret, $text, $how);
        }
    }
}
