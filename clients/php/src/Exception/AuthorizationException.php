<?php

// 403.

declare(strict_types=1);

namespace HealthInterop\Exception;

/** The client may not do this (403). */
class AuthorizationException extends ServiceException
{
}
