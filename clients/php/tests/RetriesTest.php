<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Internal\RateLimitHeaders;
use HealthInterop\Internal\Retry;
use HealthInterop\Internal\Failures;
use HealthInterop\Exception\ServiceException;
use HealthInterop\Tests\Support\Vectors;
use HealthInterop\Transport\Response;
use PHPUnit\Framework\TestCase;

final class RetriesTest extends TestCase
{
    public static function waits(): iterable
    {
        return Vectors::of('backoff');
    }

    /** @dataProvider waits */
    public function testBackoff(array $case): void
    {
        self::assertEquals($case['wait'], Retry::delay($case['retry'], (float) $case['random'], $case['retryAfter']));
    }

    public static function retryAfter(): iterable
    {
        return Vectors::of('retry-after');
    }

    /** @dataProvider retryAfter */
    public function testRetryAfter(array $case): void
    {
        self::assertSame($case['seconds'], Retry::retryAfter($case['header'], $case['date']));
    }

    public static function rateLimits(): iterable
    {
        return Vectors::of('rate-limit');
    }

    /** @dataProvider rateLimits */
    public function testRateLimit(array $case): void
    {
        $headers = array_filter(['ratelimit-policy' => $case['policy'], 'ratelimit' => $case['limit']], is_string(...));
        $limit = RateLimitHeaders::of(new Response(200, $headers, ''));
        self::assertSame($case['expected'], $limit === null ? null : get_object_vars($limit));
    }

    public static function errors(): iterable
    {
        return Vectors::of('errors');
    }

    /** @dataProvider errors */
    public function testErrors(array $case): void
    {
        $error = Failures::of(new Response($case['status'], $case['headers'], $case['text'] ?? ''), 1);
        $expected = $case['expected'];
        self::assertSame(Vectors::exceptionClass($expected['class']), $error::class);
        self::assertSame($case['status'], $error->status);
        foreach (['errorCode', 'details', 'requestId', 'retryAfter', 'body'] as $property) {
            self::assertSame($expected[$property], $error->$property, $property);
        }
        self::assertSame($expected['message'], $error->getMessage());
        self::assertInstanceOf(ServiceException::class, $error);
    }
}
