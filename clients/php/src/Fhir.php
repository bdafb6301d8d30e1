<?php

// FHIR R4: search, read, and the resources about one patient.

declare(strict_types=1);

namespace HealthInterop;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Internal\Call;
use HealthInterop\Internal\CompartmentSearches;
use HealthInterop\Internal\Connection;
use HealthInterop\Internal\HealthId;
use HealthInterop\Internal\Pages;
use HealthInterop\Internal\Unserializable;

/**
 * FHIR R4. Filters are search parameters: a list is repeated, null is left out.
 *
 * @phpstan-import-type Bundle from Shapes
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type Filters from Shapes
 */
final class Fhir
{
    use CompartmentSearches;
    use Unserializable;

    /** @internal Modules belong to a ServiceClient. */
    public function __construct(private readonly Connection $connection)
    {
    }

    /**
     * Search FHIR resources of a type.
     *
     * @param string      $type    Type of resource, such as Observation
     * @param Filters     $params  Search parameters of FHIR
     * @param CallOptions $options Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function search(string $type, array $params = [], array $options = []): array
    {
        $path = '/api/fhir/R4/' . Call::segment('type', $type);
        return $this->connection->json(Call::of('GET', $path, query: $params), $options);
    }

    /**
     * Search FHIR resources of a type, over all pages.
     *
     * @param string      $type    Type of resource, such as Observation
     * @param Filters     $params  Search parameters of FHIR
     * @param CallOptions $options Options of this call, for each page
     * @return \Generator<int, array<string, mixed>> Resources that match
     * @throws ServiceException
     */
    public function searchAll(string $type, array $params = [], array $options = []): \Generator
    {
        foreach ($this->iterate($this->search($type, $params, $options), $options) as $resource) {
            yield $resource;
        }
    }

    /**
     * Read a FHIR resource.
     *
     * @param string      $type    Type of resource
     * @param string      $id      Id of the resource
     * @param CallOptions $options Options of this call
     * @return array<string, mixed>
     * @throws ServiceException
     */
    public function read(string $type, string $id, array $options = []): array
    {
        $path = '/api/fhir/R4/' . Call::segment('type', $type) . '/{id}';
        return $this->connection->json(Call::of('GET', $path, ['id' => $id]), $options);
    }

    /**
     * Iterate over the resources of a Bundle and its following pages.
     *
     * @param Bundle      $bundle  First page, as a search returns it
     * @param CallOptions $options Options of this call, for each page
     * @return \Generator<int, array<string, mixed>> Resources that match
     * @throws ServiceException
     */
    public function iterate(#[\SensitiveParameter] array $bundle, array $options = []): \Generator
    {
        return Pages::bundle($this->connection, $bundle, $options);
    }

    /**
     * Search the FHIR resources of a type about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param string      $type     Type of resource
     * @param Filters     $filters  Search parameters of FHIR
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function patientSearch(string $healthId, string $type, array $filters = [], array $options = []): array
    {
        $path = '/api/v1/sdk/patients/{health_id}/fhir/' . Call::segment('type', $type);
        $call = Call::of('GET', $path, ['health_id' => HealthId::normalize($healthId)], $filters);
        return $this->connection->json($call, $options);
    }

    /**
     * Get all FHIR resources about a patient.
     *
     * @param string      $healthId Health ID, in any writing
     * @param Filters     $filters  Parameters of $everything, such as _since
     * @param CallOptions $options  Options of this call
     * @return Bundle One page
     * @throws ServiceException
     */
    public function patientEverything(string $healthId, array $filters = [], array $options = []): array
    {
        $path = '/api/v1/sdk/patients/{health_id}/fhir/$everything';
        $call = Call::of('GET', $path, ['health_id' => HealthId::normalize($healthId)], $filters);
        return $this->connection->json($call, $options);
    }
}
