<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Exception\ValidationException;
use HealthInterop\HealthIds;
use HealthInterop\Tests\Support\Vectors;
use PHPUnit\Framework\TestCase;

final class HealthIdsTest extends TestCase
{
    public static function valid(): iterable
    {
        return Vectors::of('health-ids', 'valid');
    }

    /** @dataProvider valid */
    public function testValid(array $case): void
    {
        self::assertSame($case['canonical'], HealthIds::normalize($case['input']));
    }

    public static function invalid(): iterable
    {
        return Vectors::of('health-ids', 'invalid');
    }

    /** @dataProvider invalid */
    public function testInvalid(array $case): void
    {
        try {
            HealthIds::normalize($case['input']);
            self::fail('It was taken for a Health ID.');
        } catch (ValidationException $error) {
            self::assertSame(['INVALID_HEALTH_ID', null], [$error->errorCode, $error->status]);
        }
    }

    public function testEverySubstitutionOfOneSymbolIsFound(): void
    {
        $found = 0;
        $known = 'CM-TQYE-6SRK-YQ6S';
        foreach (range(3, 16) as $place) {
            foreach (str_split('0123456789ABCDEFGHJKMNPQRSTVWXYZ') as $symbol) {
                if ($known[$place] !== '-' && $known[$place] !== $symbol) {
                    try {
                        HealthIds::normalize(substr_replace($known, $symbol, $place, 1));
                    } catch (ValidationException) {
                        $found++;
                    }
                }
            }
        }
        self::assertSame(12 * 31, $found);
    }

    public function testBytesThatAreNoTextAreNoHealthId(): void
    {
        $this->expectException(ValidationException::class);
        HealthIds::normalize("CM-TQYE-6SRK-YQ6S\xff");
    }
}
