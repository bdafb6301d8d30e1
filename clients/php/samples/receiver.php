<?php

// A receiver of webhooks in plain PHP. It keeps each event once, in a file that a worker takes.
//   WEBHOOK_SECRET=whsec_… WEBHOOK_INBOX=/var/spool/webhooks php -S 127.0.0.1:8000 samples/receiver.php
// During a rotation of the secret, WEBHOOK_SECRET holds both, with a comma between them.

declare(strict_types=1);

use HealthInterop\Exception\WebhookSignatureException;
use HealthInterop\Webhooks;

require __DIR__ . '/../autoload.php'; // with Composer: vendor/autoload.php

/** Answer with a status and a JSON body, and end. */
function answer(int $status, array $body): never
{
    http_response_code($status);
    header('Content-Type: application/json');
    exit(json_encode($body, JSON_THROW_ON_ERROR));
}

$rawBody = (string) file_get_contents('php://input');
$signature = $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null;
$secrets = explode(',', (string) getenv('WEBHOOK_SECRET'));
try {
    $event = Webhooks::parseEvent($rawBody, $signature, $secrets);
} catch (WebhookSignatureException $error) {
    error_log("A delivery was refused: {$error->reason}");
    answer(400, ['received' => false, 'reason' => $error->reason]);
}

// Keep the event, then answer: the service waits 10 seconds, and sends again what was not answered with 2xx.
// The name is made of the id, so that an event that comes twice is kept once.
$file = getenv('WEBHOOK_INBOX') . '/' . hash('sha256', $event['id']) . '.json';
$handle = @fopen($file, 'x');
if ($handle !== false) {
    $kept = fwrite($handle, $rawBody) === strlen($rawBody) && fclose($handle);
} else {
    $kept = is_file($file);
}
answer($kept ? 200 : 500, ['received' => $kept]);
