<?php

// Clinical records: list and push them.

declare(strict_types=1);

namespace HealthInterop;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Exception\ValidationException;
use HealthInterop\Internal\Call;
use HealthInterop\Internal\Check;
use HealthInterop\Internal\Connection;
use HealthInterop\Internal\HealthId;
use HealthInterop\Internal\Pages;
use HealthInterop\Internal\Unserializable;

/**
 * Clinical records.
 *
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type EncounterPush from Shapes
 * @phpstan-import-type LabResultPush from Shapes
 * @phpstan-import-type PatientRecords from Shapes
 * @phpstan-import-type PushReply from Shapes
 */
final class Records
{
    use Unserializable;

    /** @internal Modules belong to a ServiceClient. */
    public function __construct(private readonly Connection $connection)
    {
    }

    /**
     * List a patient's diagnoses, prescriptions, laboratory results and vital signs.
     *
     * @param string      $healthId Health ID, in any writing
     * @param string|null $type     diagnoses, prescriptions, lab_results, vitals or all
     * @param string|null $since    From this date or time
     * @param string|null $until    Until this date or time
     * @param int|null    $limit    Entries of a page
     * @param string|null $cursor   Where the page begins: `next_cursor` of the page before
     * @param CallOptions $options  Options of this call
     * @return PatientRecords
     * @throws ServiceException
     */
    public function list(
        string $healthId,
        ?string $type = null,
        ?string $since = null,
        ?string $until = null,
        ?int $limit = null,
        ?string $cursor = null,
        array $options = [],
    ): array {
        $call = Call::of(
            'GET',
            '/api/v1/connect/patient/{health_id}/records',
            ['health_id' => HealthId::normalize($healthId)],
            ['type' => $type, 'since' => $since, 'until' => $until, 'limit' => $limit, 'cursor' => $cursor],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Iterate over a patient's records of one type, over all pages.
     *
     * @param string      $healthId Health ID, in any writing
     * @param 'diagnoses'|'prescriptions'|'lab_results'|'vitals' $type Type of the records
     * @param string|null $since    From this date or time
     * @param string|null $until    Until this date or time
     * @param int|null    $limit    Entries of a page
     * @param string|null $cursor   Where the page begins: `next_cursor` of the page before
     * @param CallOptions $options  Options of this call, for each page
     * @return \Generator<int, array<string, mixed>>
     * @throws ValidationException with errorCode INVALID_ARGUMENT without a type, or for all
     * @throws ServiceException
     */
    public function listAll(
        string $healthId,
        ?string $type,
        ?string $since = null,
        ?string $until = null,
        ?int $limit = null,
        ?string $cursor = null,
        array $options = [],
    ): \Generator {
        Check::argument($type !== null && $type !== '' && $type !== 'all', 'type must be one type of records.');
        return Pages::cursor(
            fn (?string $after): array => $this->list($healthId, $type, $since, $until, $limit, $after, $options),
            static fn (array $page): mixed => $page['data'][$type] ?? null,
            $cursor,
        );
    }

    /**
     * Push an encounter, recommendation or alert.
     *
     * @param EncounterPush $encounter Encounter, recommendation or alert
     * @param CallOptions   $options   Options of this call
     * @return PushReply
     * @throws ServiceException
     */
    public function pushEncounter(#[\SensitiveParameter] array $encounter, array $options = []): array
    {
        return $this->connection->json(Call::of('POST', '/api/v1/sdk/records/encounters', body: $encounter), $options);
    }

    /**
     * Push a laboratory result.
     *
     * @param LabResultPush $labResult Lab result
     * @param CallOptions   $options   Options of this call
     * @return PushReply
     * @throws ServiceException
     */
    public function pushLabResult(#[\SensitiveParameter] array $labResult, array $options = []): array
    {
        return $this->connection->json(Call::of('POST', '/api/v1/sdk/records/lab-results', body: $labResult), $options);
    }
}
