<?php

// The base of all exceptions of this library.

declare(strict_types=1);

namespace HealthInterop\Exception;

use HealthInterop\RateLimit;

/**
 * A call that failed. Its message, its string form and its dump hold no secret, no token and no body that was sent:
 * the arguments of the calls in its trace are removed.
 */
class ServiceException extends \RuntimeException
{
    private static ?\ReflectionProperty $frames = null;

    /**
     * @param string                                                       $message    What is wrong and what to do
     * @param int|null                                                     $status     HTTP status, null without a response
     * @param string|null                                                  $errorCode  Code of the service, such as CONSENT_REQUIRED
     * @param list<array{field?: string, code?: string, message?: string}> $details    What is wrong with single fields
     * @param string|null                                                  $requestId  X-Request-Id of the response; include it in reports
     * @param RateLimit|null                                               $rateLimit  Rate limit after the response
     * @param int|null                                                     $retryAfter Seconds to wait before the next request
     * @param array<array-key, mixed>|null                                 $body       The parsed error, null if it was not JSON
     * @param int                                                          $attempts   Requests that were sent for the call
     */
    public function __construct(
        string $message,
        public readonly ?int $status = null,
        public readonly ?string $errorCode = null,
        public readonly array $details = [],
        public readonly ?string $requestId = null,
        public readonly ?RateLimit $rateLimit = null,
        public readonly ?int $retryAfter = null,
        public readonly ?array $body = null,
        public readonly int $attempts = 0,
    ) {
        parent::__construct($message);
        $frames = array_map(static function (array $frame): array {
            unset($frame['args']);
            return $frame;
        }, $this->getTrace());
        self::$frames ??= new \ReflectionProperty(\Exception::class, 'trace');
        self::$frames->setValue($this, $frames);
    }
}
