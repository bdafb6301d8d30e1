<?php

// Writes src/Shapes.php and src/Internal/CompartmentSearches.php from docs/openapi.json and clients/contract.json.
// php tools/generate.php writes the files; with --check it only says whether they are up to date.

declare(strict_types=1);

namespace HealthInterop\Tools;

require __DIR__ . '/ShapeWriter.php';

/**
 * The source of the trait with one search per type of resource.
 *
 * @param array<string, array<string, mixed>> $methods
 */
function searches(array $methods): string
{
    $source = <<<'PHP'
        <?php

        // One method for each type of resource that is about a patient. Written by tools/generate.php from clients/contract.json.

        declare(strict_types=1);

        namespace HealthInterop\Internal;

        use HealthInterop\Exception\ServiceException;
        use HealthInterop\Shapes;

        /**
         * @internal The searches of Fhir by type.
         * @phpstan-import-type Bundle from Shapes
         * @phpstan-import-type CallOptions from Shapes
         * @phpstan-import-type Filters from Shapes
         */
        trait CompartmentSearches
        {
            /**
             * Search the FHIR resources of a type about a patient.
             *
             * @param Filters     $filters
             * @param CallOptions $options
             * @return Bundle One page
             */
            abstract public function patientSearch(string $healthId, string $type, array $filters = [], array $options = []): array;


        PHP;
    foreach ($methods as $name => $method) {
        if (isset($method['type'])) {
            $source .= <<<PHP
                    /**
                     * {$method['summary']}.
                     *
                     * @param string      \$healthId Health ID, in any writing
                     * @param Filters     \$filters  Search parameters of FHIR
                     * @param CallOptions \$options  Options of this call
                     * @return Bundle One page
                     * @throws ServiceException
                     */
                    public function $name(string \$healthId, array \$filters = [], array \$options = []): array
                    {
                        return \$this->patientSearch(\$healthId, '{$method['type']}', \$filters, \$options);
                    }


                PHP;
        }
    }
    return rtrim($source) . "\n}\n";
}

/**
 * The names of the schemas that the methods of the contract take and return, and those of events.
 *
 * @param array<string, mixed> $contract
 * @param array<string, mixed> $description
 * @return list<string>
 */
function schemasOf(array $contract, array $description): array
{
    $names = [];
    foreach (array_merge(...array_map('array_values', array_values($contract['modules']))) as $method) {
        foreach ($method['parameters'] ?? [] as $parameter) {
            $names[] = $parameter['schema'] ?? '';
        }
        $operation = $description['paths'][$method['path'] ?? ''][strtolower($method['method'] ?? '')] ?? [];
        foreach ($operation['responses'] ?? [] as $status => $response) {
            $reference = $response['content']['application/json']['schema']['$ref'] ?? '';
            $names[] = (int) $status < 300 ? basename($reference) : '';
        }
    }
    foreach (array_keys($description['components']['schemas']) as $name) {
        $names[] = str_ends_with($name, 'Event') ? $name : '';
    }
    return $names;
}

/**
 * The generated files with their content.
 *
 * @return array<string, string>
 */
function generated(): array
{
    $repository = dirname(__DIR__, 3);
    $read = static fn (string $file): array => json_decode((string) file_get_contents("$repository/$file"), true, flags: JSON_THROW_ON_ERROR);
    $description = $read('docs/openapi.json');
    $contract = $read('clients/contract.json');
    $writer = new ShapeWriter($description['components']['schemas']);
    return [
        dirname(__DIR__) . '/src/Shapes.php' => $writer->source(schemasOf($contract, $description)),
        dirname(__DIR__) . '/src/Internal/CompartmentSearches.php' => searches($contract['modules']['fhir']),
    ];
}

if (realpath($_SERVER['SCRIPT_FILENAME'] ?? '') === __FILE__) {
    $check = ($argv[1] ?? '') === '--check';
    $stale = [];
    foreach (generated() as $file => $source) {
        if (@file_get_contents($file) !== $source) {
            $stale[] = $file;
            echo basename($file), $check ? " is out of date\n" : " written\n";
            $check || file_put_contents($file, $source);
        }
    }
    exit($check && $stale !== [] ? 1 : 0);
}
