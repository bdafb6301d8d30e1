<?php

// Consents: request, grant, deny, revoke them.

declare(strict_types=1);

namespace HealthInterop;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Internal\Call;
use HealthInterop\Internal\Connection;
use HealthInterop\Internal\HealthId;
use HealthInterop\Internal\Unserializable;

/**
 * Consents of patients.
 *
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type ConsentGrant from Shapes
 * @phpstan-import-type ConsentRecord from Shapes
 * @phpstan-import-type ConsentRequested from Shapes
 * @phpstan-import-type ConsentTypeList from Shapes
 */
final class Consents
{
    use Unserializable;

    /** @internal Modules belong to a ServiceClient. */
    public function __construct(private readonly Connection $connection)
    {
    }

    /**
     * Request consent from a patient.
     *
     * @param string       $healthId        Health ID, in any writing
     * @param string       $purpose         Why the data is needed
     * @param list<string> $requestedScopes Scopes to ask the patient for
     * @param CallOptions  $options         Options of this call
     * @return ConsentRequested
     * @throws ServiceException
     */
    public function request(
        #[\SensitiveParameter] string $healthId,
        #[\SensitiveParameter] string $purpose,
        #[\SensitiveParameter] array $requestedScopes,
        array $options = [],
    ): array {
        $call = Call::of(
            'POST',
            '/api/v1/sdk/consents/requests',
            body: [
                'health_id' => HealthId::normalize($healthId),
                'purpose' => $purpose,
                'requested_scopes' => $requestedScopes,
            ],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Get the consent status of a patient for your organisation.
     *
     * @param string      $healthId Health ID, in any writing
     * @param CallOptions $options  Options of this call
     * @return ConsentRecord
     * @throws ServiceException
     */
    public function status(string $healthId, array $options = []): array
    {
        $call = Call::of(
            'GET',
            '/api/v1/connect/patient/{health_id}/consent/status',
            ['health_id' => HealthId::normalize($healthId)],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Record that a patient grants consent to your organisation.
     *
     * @param string       $healthId Health ID, in any writing
     * @param ConsentGrant $grant    Type of the consent and its end
     * @param CallOptions  $options  Options of this call
     * @return ConsentRecord
     * @throws ServiceException
     */
    public function grant(string $healthId, #[\SensitiveParameter] array $grant, array $options = []): array
    {
        $call = Call::of(
            'POST',
            '/api/v1/connect/patient/{health_id}/consent/grant',
            ['health_id' => HealthId::normalize($healthId)],
            body: $grant,
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Record that a patient denies a consent request.
     *
     * @param string      $healthId Health ID, in any writing
     * @param CallOptions $options  Options of this call
     * @return ConsentRecord
     * @throws ServiceException
     */
    public function deny(string $healthId, array $options = []): array
    {
        $call = Call::of(
            'POST',
            '/api/v1/connect/patient/{health_id}/consent/deny',
            ['health_id' => HealthId::normalize($healthId)],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Record that a patient revokes consent.
     *
     * @param string      $healthId Health ID, in any writing
     * @param CallOptions $options  Options of this call
     * @return ConsentRecord
     * @throws ServiceException
     */
    public function revoke(string $healthId, array $options = []): array
    {
        $call = Call::of(
            'POST',
            '/api/v1/connect/patient/{health_id}/consent/revoke',
            ['health_id' => HealthId::normalize($healthId)],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * List the consent types.
     *
     * @param CallOptions $options Options of this call
     * @return ConsentTypeList
     * @throws ServiceException
     */
    public function types(array $options = []): array
    {
        return $this->connection->json(Call::of('GET', '/api/v1/connect/consent-types'), $options);
    }
}
