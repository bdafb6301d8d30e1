<?php

// 5xx.

declare(strict_types=1);

namespace HealthInterop\Exception;

/** The service failed (5xx), after all retries. */
final class ServerException extends ServiceException
{
}
