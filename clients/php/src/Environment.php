<?php

// The environments of the service.

declare(strict_types=1);

namespace HealthInterop;

/** The environment that a client belongs to. */
enum Environment: string
{
    case Local = 'local';
    case Sandbox = 'sandbox';
    case Production = 'production';
}
