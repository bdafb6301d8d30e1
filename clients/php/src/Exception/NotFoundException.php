<?php

// 404 and 410.

declare(strict_types=1);

namespace HealthInterop\Exception;

/** What was asked for does not exist (404), or no longer (410). */
final class NotFoundException extends ServiceException
{
}
