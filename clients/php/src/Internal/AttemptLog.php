<?php

// One record per attempt, for the logger of a client.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Exception\TransportException;
use HealthInterop\Transport\Response;

/** @internal Writes what happened, without anything that was sent or received. */
final class AttemptLog
{
    /** Pass one record to the logger. A logger that throws does not break the call. */
    public static function write(
        \Closure $logger,
        Call $call,
        Response|TransportException $outcome,
        int $attempt,
        float $seconds,
    ): void {
        $status = $outcome->status;
        $error = $outcome instanceof TransportException ? TransportException::class : null;
        if ($outcome instanceof Response && ($status < 200 || $status >= 300)) {
            $error = Failures::of($outcome, $attempt)::class;
        }
        try {
            $logger([
                'method' => $call->method,
                'path' => $call->label,
                'status' => $status,
                'requestId' => $outcome instanceof Response ? $outcome->header('x-request-id') : null,
                'attempt' => $attempt,
                'durationMs' => (int) round($seconds * 1000),
                'error' => $error === null ? null : substr((string) strrchr($error, '\\'), 1),
            ]);
        } catch (\Throwable) {
            // The call goes on.
        }
    }
}
