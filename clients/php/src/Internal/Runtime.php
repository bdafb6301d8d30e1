<?php

// Time, waiting and randomness of the process.

declare(strict_types=1);

namespace HealthInterop\Internal;

/** @internal What depends on the moment, so that tests can state it. */
final class Runtime
{
    /**
     * @param \Closure(): float      $clock    Seconds on a monotonic clock
     * @param \Closure(float): void  $sleep    Waits for so many seconds
     * @param \Closure(): float      $random   A number from 0 to below 1
     * @param \Closure(): float      $unixTime Seconds since 1970 by the clock of the system, which may be wrong
     */
    public function __construct(
        public readonly \Closure $clock,
        public readonly \Closure $sleep,
        public readonly \Closure $random,
        public readonly \Closure $unixTime,
    ) {
    }

    /** The clocks, sleep and randomness of the machine. */
    public static function system(): self
    {
        return new self(
            static fn (): float => hrtime(true) / 1e9,
            static function (float $seconds): void {
                usleep((int) round($seconds * 1e6));
            },
            static fn (): float => mt_rand() / (mt_getrandmax() + 1),
            static fn (): float => microtime(true),
        );
    }
}
