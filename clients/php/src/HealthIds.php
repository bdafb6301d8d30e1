<?php

// Health IDs: check, resolve and verify them.

declare(strict_types=1);

namespace HealthInterop;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Exception\ValidationException;
use HealthInterop\Internal\Call;
use HealthInterop\Internal\Connection;
use HealthInterop\Internal\HealthId;
use HealthInterop\Internal\Unserializable;

/**
 * Health IDs.
 *
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type ResolveReply from Shapes
 * @phpstan-import-type ResolveRequest from Shapes
 * @phpstan-import-type VerifyReply from Shapes
 */
final class HealthIds
{
    use Unserializable;

    /** @internal Modules belong to a ServiceClient. */
    public function __construct(private readonly Connection $connection)
    {
    }

    /**
     * Check a Health ID and return its canonical form, without a request.
     *
     * @param string $text Health ID, in any writing
     * @throws ValidationException with errorCode INVALID_HEALTH_ID
     */
    public static function normalize(string $text): string
    {
        return HealthId::normalize($text);
    }

    /**
     * Find a patient by Health ID or demographics, or register a new one.
     *
     * @param ResolveRequest $person  Health ID or demographics
     * @param CallOptions    $options Options of this call
     * @return ResolveReply
     * @throws ServiceException
     */
    public function resolve(#[\SensitiveParameter] array $person, array $options = []): array
    {
        return $this->connection->json(Call::of('POST', '/api/v1/connect/patients/resolve', body: $person), $options);
    }

    /**
     * Verify a Health ID.
     *
     * @param string      $healthId Health ID, in any writing
     * @param CallOptions $options  Options of this call
     * @return VerifyReply
     * @throws ServiceException
     */
    public function verify(string $healthId, array $options = []): array
    {
        $call = Call::of(
            'GET',
            '/api/v1/connect/patients/verify/{health_id}',
            ['health_id' => $healthId],
        );
        return $this->connection->json($call, $options);
    }
}
