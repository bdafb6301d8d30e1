<?php

// What sends requests: the place for proxies, other HTTP clients and tests.

declare(strict_types=1);

namespace HealthInterop\Transport;

use HealthInterop\Exception\TransportException;

/** Sends one request and returns its response. Retries, tokens and errors are none of its concern. */
interface Transport
{
    /**
     * Send one request. Redirects are not followed.
     *
     * @throws TransportException with reason `connection`, `timeout` or `invalid_response` where no response arrived
     */
    public function send(Request $request): Response;
}
