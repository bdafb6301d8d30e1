<?php

// Payments and their reconciliation.

declare(strict_types=1);

namespace HealthInterop;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Internal\Call;
use HealthInterop\Internal\Connection;
use HealthInterop\Internal\Unserializable;

/**
 * Payments.
 *
 * @phpstan-import-type CallOptions from Shapes
 * @phpstan-import-type Reconciliation from Shapes
 */
final class Payments
{
    use Unserializable;

    /** @internal Modules belong to a ServiceClient. */
    public function __construct(private readonly Connection $connection)
    {
    }

    /**
     * List the reconciled payments of a day.
     *
     * @param string      $date     Day, YYYY-MM-DD
     * @param string|null $currency Currency, ISO 4217
     * @param int|null    $limit    Entries of a page
     * @param string|null $cursor   Where the page begins: `next_cursor` of the page before
     * @param CallOptions $options  Options of this call
     * @return Reconciliation
     * @throws ServiceException
     */
    public function reconciliation(
        string $date,
        ?string $currency = null,
        ?int $limit = null,
        ?string $cursor = null,
        array $options = [],
    ): array {
        $call = Call::of(
            'GET',
            '/api/v1/connect/payments/reconciliation',
            query: ['date' => $date, 'currency' => $currency, 'limit' => $limit, 'cursor' => $cursor],
        );
        return $this->connection->json($call, $options);
    }
}
