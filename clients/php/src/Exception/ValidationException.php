<?php

// 400, 422, and arguments and options that are refused before a request.

declare(strict_types=1);

namespace HealthInterop\Exception;

/** The request, an argument or an option is not valid (400, 422, or no status where no request was sent). */
final class ValidationException extends ServiceException
{
}
