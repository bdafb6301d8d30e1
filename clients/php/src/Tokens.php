<?php

// The access token in use.

declare(strict_types=1);

namespace HealthInterop;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Internal\Call;
use HealthInterop\Internal\Connection;
use HealthInterop\Internal\Unserializable;

/**
 * The access token in use.
 *
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type SdkIntrospection from Shapes
 */
final class Tokens
{
    use Unserializable;

    /** @internal Modules belong to a ServiceClient. */
    public function __construct(private readonly Connection $connection)
    {
    }

    /**
     * Introspect the access token in use.
     *
     * @param CallOptions $options Options of this call
     * @return SdkIntrospection
     * @throws ServiceException
     */
    public function introspect(array $options = []): array
    {
        return $this->connection->json(Call::of('GET', '/api/v1/sdk/token/introspect'), $options);
    }
}
