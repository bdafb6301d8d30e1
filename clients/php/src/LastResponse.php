<?php

// What a client knows of the response of its last finished call.

declare(strict_types=1);

namespace HealthInterop;

/** The response of the last finished call, without its body. */
final class LastResponse
{
    /**
     * @param int            $status    HTTP status
     * @param string|null    $requestId X-Request-Id, which the service logs
     * @param RateLimit|null $rateLimit Null if the response states none
     * @param int            $retries   Retries that the call took
     * @param bool           $replayed  True if the service answered with the saved reply of an earlier request
     */
    public function __construct(
        public readonly int $status,
        public readonly ?string $requestId,
        public readonly ?RateLimit $rateLimit,
        public readonly int $retries,
        public readonly bool $replayed,
    ) {
    }
}
