<?php

// 403 for want of a consent.

declare(strict_types=1);

namespace HealthInterop\Exception;

/** The patient has not consented, or the consent ended (403): see the error code. */
final class ConsentRequiredException extends AuthorizationException
{
}
