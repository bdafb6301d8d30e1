<?php

// No usable response.

declare(strict_types=1);

namespace HealthInterop\Exception;

/** No usable response arrived, after all retries. */
final class TransportException extends ServiceException
{
    /**
     * @param string                                      $message   What happened, without addresses and data
     * @param 'connection'|'timeout'|'invalid_response'   $reason    Kind of failure
     * @param int|null                                    $status    HTTP status of an unreadable response
     * @param string|null                                 $requestId X-Request-Id of an unreadable response
     * @param int                                         $attempts  Requests that were sent for the call
     */
    public function __construct(
        string $message,
        public readonly string $reason,
        ?int $status = null,
        ?string $requestId = null,
        int $attempts = 0,
    ) {
        parent::__construct($message, status: $status, requestId: $requestId, attempts: $attempts);
    }
}
