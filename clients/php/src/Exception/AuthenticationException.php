<?php

// 401.

declare(strict_types=1);

namespace HealthInterop\Exception;

/** The token or the credentials are invalid, expired or revoked (401). */
final class AuthenticationException extends ServiceException
{
}
