<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Exception\WebhookSignatureException;
use HealthInterop\Internal\Signature;
use HealthInterop\Tests\Support\Vectors;
use HealthInterop\Webhooks;
use PHPUnit\Framework\TestCase;

final class SignaturesTest extends TestCase
{
    public static function verified(): iterable
    {
        return Vectors::of('signatures', 'verify');
    }

    /** @dataProvider verified */
    public function testVerify(array $case): void
    {
        self::assertSame($case['reason'], $this->reasonOf(
            static fn () => Signature::verify(self::body($case), $case['header'], $case['secret'], $case['tolerance'] ?? 300, $case['now']),
        ));
    }

    public static function events(): iterable
    {
        return Vectors::of('signatures', 'parseEvent');
    }

    /** @dataProvider events */
    public function testParseEvent(array $case): void
    {
        $event = null;
        $reason = $this->reasonOf(function () use ($case, &$event): void {
            $event = Signature::event(self::body($case), $case['header'], $case['secret'], $case['tolerance'] ?? 300, $case['now']);
        });
        self::assertSame([$case['reason'], $case['event'] ?? null], [$reason, $event]);
    }

    public static function signed(): iterable
    {
        return Vectors::of('signatures', 'signTestPayload');
    }

    /** @dataProvider signed */
    public function testSign(array $case): void
    {
        self::assertSame(
            ['body' => $case['body'], 'header' => $case['header']],
            Webhooks::signTestPayload($case['payload'], $case['secret'], $case['timestamp']),
        );
    }

    public function testAPayloadSignedNowIsVerifiedNowAndIsRefusedLater(): void
    {
        $secret = 'whsec_of_the_test';
        ['body' => $body, 'header' => $header] = Webhooks::signTestPayload(['id' => 'evt_1', 'type' => 'consent.revoked'], $secret);
        Webhooks::verifySignature($body, $header, $secret);
        self::assertSame('evt_1', Webhooks::parseEvent($body, $header, $secret)['id']);
        ['body' => $body, 'header' => $header] = Webhooks::signTestPayload('{}', $secret, time() - 400);
        self::assertSame('timestamp_out_of_range', $this->reasonOf(static fn () => Webhooks::verifySignature($body, $header, $secret)));
        Webhooks::verifySignature($body, $header, $secret, tolerance: 500);
    }

    public function testASecretOfAnotherKindSignsNothing(): void
    {
        self::assertSame('wrong_secret_type', $this->reasonOf(static fn () => Webhooks::signTestPayload('{}', 'client-secret')));
    }

    private static function body(array $case): mixed
    {
        return isset($case['bodyBase64']) ? base64_decode($case['bodyBase64'], true) : $case['body'] ?? $case['bodyParsed'] ?? null;
    }

    private function reasonOf(callable $act): ?string
    {
        try {
            $act();
            return null;
        } catch (WebhookSignatureException $error) {
            self::assertNull($error->errorCode);
            self::assertNull($error->status);
            return $error->reason;
        }
    }
}
