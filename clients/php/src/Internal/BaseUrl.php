<?php

// The address of the service.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Environment;

/** @internal Checks the base URL: https, or http on this machine, and no path. */
final class BaseUrl
{
    private const LOCAL = 'http://127.0.0.1:8080';
    private const FORM = '~^(https?)://((?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?)/?$~Di';
    private const LOOPBACK = '~^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$~Di';

    /** The base URL given, or that of the process environment, or the default of a local service. */
    public static function of(?string $given, Environment $environment): string
    {
        $set = getenv('HEALTH_INTEROP_BASE_URL');
        $url = $given ?? ($set === false || $set === '' ? null : $set);
        if ($url === null && $environment === Environment::Local) {
            return self::LOCAL;
        }
        Check::option($url !== null, 'baseUrl is required: pass it or set HEALTH_INTEROP_BASE_URL.');
        Check::option(
            preg_match(self::FORM, $url, $parts) === 1,
            'baseUrl must be an address without a path, such as https://api.example.org.',
        );
        Check::option(
            strtolower($parts[1]) === 'https' || preg_match(self::LOOPBACK, $parts[2]) === 1,
            'baseUrl must begin with https:. http: is accepted for loopback addresses only.',
        );
        return strtolower($parts[1]) . '://' . $parts[2];
    }
}
