<?php

// Stock of pharmacies and blood banks.

declare(strict_types=1);

namespace HealthInterop;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Internal\Call;
use HealthInterop\Internal\Connection;
use HealthInterop\Internal\Unserializable;

/**
 * Stock of pharmacies and blood banks.
 *
 * @phpstan-import-type BloodInventory from Shapes
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type StockOutcomes from Shapes
 * @phpstan-import-type StockPage from Shapes
 * @phpstan-import-type StockReport from Shapes
 */
final class Inventory
{
    use Unserializable;

    /** @internal Modules belong to a ServiceClient. */
    public function __construct(private readonly Connection $connection)
    {
    }

    /**
     * List pharmacy stock.
     *
     * @param string|null $facilityId     Id of the facility
     * @param string|null $medicationCode Code of the medicine
     * @param string|null $codeSystem     Code system of the code
     * @param string|null $stockStatus    in_stock, low or out_of_stock
     * @param string|null $q              Part of the name
     * @param string|null $expiringBefore A batch expires before this date
     * @param int|null    $limit          Entries of a page
     * @param string|null $cursor         Where the page begins: `next_cursor` of the page before
     * @param CallOptions $options        Options of this call
     * @return StockPage
     * @throws ServiceException
     */
    public function pharmacyStock(
        ?string $facilityId = null,
        ?string $medicationCode = null,
        ?string $codeSystem = null,
        ?string $stockStatus = null,
        ?string $q = null,
        ?string $expiringBefore = null,
        ?int $limit = null,
        ?string $cursor = null,
        array $options = [],
    ): array {
        $call = Call::of(
            'GET',
            '/api/v1/connect/pharmacy/stock',
            query: [
                'facility_id' => $facilityId,
                'medication_code' => $medicationCode,
                'code_system' => $codeSystem,
                'stock_status' => $stockStatus,
                'q' => $q,
                'expiring_before' => $expiringBefore,
                'limit' => $limit,
                'cursor' => $cursor,
            ],
        );
        return $this->connection->json($call, $options);
    }

    /**
     * Report pharmacy stock.
     *
     * @param StockReport $report  Stock of one or several medicines
     * @param CallOptions $options Options of this call
     * @return StockOutcomes
     * @throws ServiceException
     */
    public function reportPharmacyStock(#[\SensitiveParameter] array $report, array $options = []): array
    {
        return $this->connection->json(Call::of('PUT', '/api/v1/connect/pharmacy/stock', body: $report), $options);
    }

    /**
     * List the blood bank inventory.
     *
     * @param string|null $facilityId Id of the facility
     * @param string|null $bloodGroup Blood group, such as O+
     * @param string|null $component  Blood component
     * @param int|null    $limit      Entries of a page
     * @param string|null $cursor     Where the page begins: `next_cursor` of the page before
     * @param CallOptions $options    Options of this call
     * @return BloodInventory
     * @throws ServiceException
     */
    public function bloodBank(
        ?string $facilityId = null,
        ?string $bloodGroup = null,
        ?string $component = null,
        ?int $limit = null,
        ?string $cursor = null,
        array $options = [],
    ): array {
        $call = Call::of(
            'GET',
            '/api/v1/connect/blood-bank/inventory',
            query: [
                'facility_id' => $facilityId,
                'blood_group' => $bloodGroup,
                'component' => $component,
                'limit' => $limit,
                'cursor' => $cursor,
            ],
        );
        return $this->connection->json($call, $options);
    }
}
