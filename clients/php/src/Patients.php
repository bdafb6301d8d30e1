<?php

// Patients: their summary, and the search by Health ID.

declare(strict_types=1);

namespace HealthInterop;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Internal\Call;
use HealthInterop\Internal\Connection;
use HealthInterop\Internal\HealthId;
use HealthInterop\Internal\Unserializable;

/**
 * Patients.
 *
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type PatientSearchReply from Shapes
 * @phpstan-import-type PatientSummary from Shapes
 */
final class Patients
{
    use Unserializable;

    /** @internal Modules belong to a ServiceClient. */
    public function __construct(private readonly Connection $connection)
    {
    }

    /**
     * Get the summary of a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param CallOptions $options  Options of this call
     * @return PatientSummary
     * @throws ServiceException
     */
    public function getSummary(string $healthId, array $options = []): array
    {
        $call = Call::of(
            'GET',
            '/api/v1/sdk/patients/{health_id}/summary',
            ['health_id' => HealthId::normalize($healthId)],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Search for a patient by Health ID.
     *
     * @param string      $healthId Health ID, in any writing
     * @param CallOptions $options  Options of this call
     * @return PatientSearchReply
     * @throws ServiceException
     */
    public function search(string $healthId, array $options = []): array
    {
        $call = Call::of(
            'GET',
            '/api/v1/connect/patient/search',
            query: ['health_id' => $healthId],
        );
        return $this->connection->json($call, $options);
    }
}
