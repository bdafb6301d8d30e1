<?php

// A webhook delivery whose signature does not hold.

declare(strict_types=1);

namespace HealthInterop\Exception;

/** The delivery is not from the service, was changed, or is too old. Answer it with status 400. */
final class WebhookSignatureException extends ServiceException
{
    /**
     * @param string $message What is wrong and what to look at
     * @param 'wrong_secret_type'|'parsed_body_suspected'|'missing_header'|'malformed_header'|'no_match'|'timestamp_out_of_range'|'invalid_event' $reason
     *        Kind of failure
     */
    public function __construct(string $message, public readonly string $reason)
    {
        parent::__construct($message);
    }
}
