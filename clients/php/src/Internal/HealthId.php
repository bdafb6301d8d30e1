<?php

// Health IDs: CC-XXXX-XXXX-XXXX, a country, ten symbols and two check symbols.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Exception\ValidationException;

/** @internal Reads Health IDs as people write them. */
final class HealthId
{
    /** Crockford's base32: no I, L, O and U. */
    private const SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    /** Each value times x, modulo x^5 + x^2 + 1. */
    private const TIMES_X = [
        0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
        5, 7, 1, 3, 13, 15, 9, 11, 21, 23, 17, 19, 29, 31, 25, 27,
    ];
    private const CANONICAL = '/^[A-Z]{2}(?:-[0-9A-HJKMNP-TV-Z]{4}){3}$/D';
    private const FOLDED = '/^[A-Z]{2}[0-9A-HJKMNP-TV-Z]{12}$/D';
    /** What a word processor or a card may put between the symbols. */
    private const SPACES_AND_DASHES = '/[\s\p{Z}\p{Pd}\x{FEFF}\x{AD}\x{2212}\x{200B}]+/u';

    /**
     * The canonical form of a Health ID.
     *
     * @throws ValidationException with errorCode INVALID_HEALTH_ID; a wrong Health ID is never corrected
     */
    public static function normalize(string $text): string
    {
        $folded = preg_match(self::CANONICAL, $text) === 1 ? str_replace('-', '', $text) : self::fold($text);
        if (preg_match(self::FOLDED, $folded) !== 1 || !self::holds($folded)) {
            throw new ValidationException(
                'The Health ID is not valid. Compare it with the card: its form is CC-XXXX-XXXX-XXXX.',
                errorCode: 'INVALID_HEALTH_ID',
            );
        }
        return implode('-', [substr($folded, 0, 2), ...str_split(substr($folded, 2), 4)]);
    }

    /** True for a text that has the form of a Health ID, its check symbols aside. */
    public static function isForm(string $text): bool
    {
        return preg_match(self::FOLDED, self::fold($text)) === 1;
    }

    /** Upper case, without spaces and dashes; after the country O is 0, I and L are 1. */
    private static function fold(string $text): string
    {
        $short = preg_match('/^.{0,100}$/Dsu', $text) === 1;
        $bare = $short ? strtoupper((string) preg_replace(self::SPACES_AND_DASHES, '', $text)) : '';
        return substr($bare, 0, 2) . strtr(substr($bare, 2), 'OIL', '011');
    }

    /** Whether both check sums over GF(32) are zero. */
    private static function holds(string $folded): bool
    {
        // By Horner's rule from the last symbol: multiply by x for the first sum, by x^2 for the second.
        $first = $second = 0;
        for ($place = 13; $place >= 0; $place--) {
            $value = $place < 2 ? ord($folded[$place]) - 64 : (int) strpos(self::SYMBOLS, $folded[$place]);
            $first = self::TIMES_X[$first] ^ $value;
            $second = self::TIMES_X[self::TIMES_X[$second]] ^ $value;
        }
        return $first === 0 && $second === 0;
    }
}
