<?php

// Tells the story of test/clients/support/story.ts with this library: STORY is its JSON; what happened is printed as JSON.

declare(strict_types=1);

use HealthInterop\Exception\ServiceException;
use HealthInterop\ServiceClient;

require dirname(__DIR__) . '/autoload.php';

/** The class of the error in all languages, and its code. */
function errorOf(callable $call): string
{
    try {
        $call();
        return 'no error';
    } catch (ServiceException $error) {
        $class = preg_replace('/(?<!NotFound)Exception$/', 'Error', (new ReflectionClass($error))->getShortName());
        return "$class $error->errorCode";
    }
}

/**
 * Start the sample of a receiver on the port of its address.
 *
 * @return resource Its process
 */
function startReceiver(string $url, string $secret, string $inbox)
{
    $command = [PHP_BINARY, '-S', '127.0.0.1:' . parse_url($url, PHP_URL_PORT), dirname(__DIR__) . '/samples/receiver.php'];
    $environment = ['WEBHOOK_SECRET' => $secret, 'WEBHOOK_INBOX' => $inbox] + getenv();
    $process = proc_open($command, [1 => ['file', '/dev/null', 'w'], 2 => ['pipe', 'w']], $pipes, null, $environment);
    do {
        $line = fgets($pipes[2]);
    } while ($line !== false && !str_contains($line, 'started'));
    return $process;
}

/** @return list<string> The types of the events that were kept, once there are so many */
function received(string $inbox, int $count): array
{
    for ($end = microtime(true) + 20; count(glob("$inbox/*.json") ?: []) < $count && microtime(true) < $end;) {
        usleep(10_000);
    }
    $files = glob("$inbox/*.json") ?: [];
    return array_map(static fn (string $file): string => json_decode((string) file_get_contents($file), true)['type'], $files);
}

/** @return list<string> */
function sorted(iterable $texts): array
{
    $list = is_array($texts) ? $texts : iterator_to_array($texts, false);
    sort($list, SORT_STRING);
    return $list;
}

/** What happens, by the names of the story. */
function tell(ServiceClient $client, array $story, string $inbox, mixed &$receiver): array
{
    $resolved = $client->healthIds->resolve($story['person']);
    $id = $resolved['health_id'];
    $told = ['resolved' => $resolved['status'], 'resolvedAgain' => $client->healthIds->resolve($story['person'])['status']];
    $told['verified'] = $client->healthIds->verify($id)['status'];
    $told['refused'] = errorOf(fn () => $client->patients->getSummary($id));
    $told['requested'] = $client->consents->request($id, $story['purpose'], $story['requestedScopes'])['status'];
    $told['status'] = $client->consents->status($id)['status'];
    $told['granted'] = $client->consents->grant($id, $story['grant'])['status'];
    $subscription = $client->webhooks->subscribe($story['receiverUrl'], $story['events']);
    $receiver = startReceiver($story['receiverUrl'], $subscription['webhook_secret'], $inbox);
    $told['subscribed'] = count(iterator_to_array($client->webhooks->listAll()));
    $results = array_map(static fn (array $result): array => ['health_id' => $id] + $result, $story['labResults']);
    $told['pushed'] = array_map(fn (array $result): string => $client->records->pushLabResult($result)['status'], $results);
    $told['alert'] = $client->records->pushEncounter(['health_id' => $id] + $story['encounter'])['status'];
    $key = ['idempotencyKey' => $story['key']];
    $first = $client->records->pushLabResult($results[0], $key);
    $told['repeated'] = $client->records->pushLabResult($results[0], $key)['id'] === $first['id'];
    $told['replayed'] = $client->lastResponse->replayed;
    $told['reused'] = errorOf(fn () => $client->records->pushLabResult($results[1], $key));
    $summary = $client->patients->getSummary($id);
    $told['summary'] = [$summary['patient']['first_name'], count($summary['recent_labs'])];
    $reports = $client->fhir->iterate($client->fhir->diagnosticReports($id, ['_count' => 1]));
    $told['found'] = sorted(array_map(static fn (array $report): string => $report['code']['text'], iterator_to_array($reports)));
    $told['listed'] = sorted(array_column(iterator_to_array($client->records->listAll($id, 'lab_results', limit: 1)), 'test_name'));
    $told['events'] = received($inbox, 4);
    $told['revoked'] = $client->consents->revoke($id)['status'];
    $told['refusedAgain'] = errorOf(fn () => $client->patients->getSummary($id));
    $client->webhooks->unsubscribe($subscription['id']);
    $told['unsubscribed'] = count(iterator_to_array($client->webhooks->listAll()));
    return $told;
}

$story = json_decode((string) getenv('STORY'), true, flags: JSON_THROW_ON_ERROR);
$inbox = sys_get_temp_dir() . '/story-' . bin2hex(random_bytes(6));
mkdir($inbox);
$receiver = null;
try {
    $client = new ServiceClient($story['clientId'], $story['clientSecret'], 'local', $story['baseUrl']);
    echo json_encode(tell($client, $story, $inbox, $receiver), JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
} finally {
    if (is_resource($receiver)) {
        proc_terminate($receiver);
        proc_close($receiver);
    }
    array_map(unlink(...), glob("$inbox/*") ?: []);
    rmdir($inbox);
}
