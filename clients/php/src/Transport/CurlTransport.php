<?php

// HTTP by ext-curl over one handle that keeps its connection alive.

declare(strict_types=1);

namespace HealthInterop\Transport;

use HealthInterop\Exception\TransportException;
use HealthInterop\Internal\Unserializable;

/** The default transport. TLS is verified, redirects are not followed, only http and https are spoken. */
final class CurlTransport implements Transport
{
    use Unserializable;

    private const TIMED_OUT = [CURLE_OPERATION_TIMEOUTED];
    /** The write callback refused (too large), the reply is no HTTP, or its coding is broken. */
    private const UNUSABLE = [CURLE_WRITE_ERROR, 8, CURLE_BAD_CONTENT_ENCODING];

    private readonly ResponseBuffer $buffer;
    private ?\CurlHandle $handle = null;
    private int $process = 0;
    /** @var array{string, bool, bool, float, float}|null What the settings of the handle were made for */
    private ?array $shape = null;
    /** @var list<\CurlHandle> Handles of the parent process: closing one here would end its connection there. */
    private array $inherited = [];

    /** @param int $maxResponseBytes Bytes of a response body at most; a larger one raises TransportException */
    public function __construct(private readonly int $maxResponseBytes = 67_108_864)
    {
        $this->buffer = new ResponseBuffer();
    }

    public function send(Request $request): Response
    {
        $handle = $this->handle();
        $this->buffer->clear();
        $plain = str_starts_with($request->url, 'http:');
        $shape = [$request->method, $request->body === null, $plain, $request->timeout, $request->connectTimeout];
        if ($shape !== $this->shape) {
            curl_setopt_array($handle, $this->settings($request));
            $this->shape = $shape;
        }
        curl_setopt($handle, CURLOPT_URL, $request->url);
        curl_setopt($handle, CURLOPT_HTTPHEADER, $this->lines($request));
        if ($request->body !== null) {
            curl_setopt($handle, CURLOPT_POSTFIELDS, $request->body);
        }
        if (curl_exec($handle) === false) {
            $failure = $this->failure(curl_errno($handle));
            $this->buffer->clear();
            throw $failure;
        }
        return $this->buffer->take();
    }

    /** @return list<string> */
    private function lines(#[\SensitiveParameter] Request $request): array
    {
        // Without Expect, a large body is sent at once; a request without a body states no type of one.
        $lines = $request->body === null ? ['Expect:', 'Content-Type:'] : ['Expect:'];
        foreach ($request->headers as $name => $value) {
            $lines[] = "$name: $value";
        }
        return $lines;
    }

    /** @return array<int, mixed> What stays the same from one request to the next like it */
    private function settings(Request $request): array
    {
        $writes = in_array($request->method, ['POST', 'PUT', 'PATCH'], true);
        // The order matters: POSTFIELDS, HTTPGET and NOBODY set the method, CUSTOMREQUEST has the last word.
        return ($request->body !== null || $writes ? [CURLOPT_POSTFIELDS => ''] : [CURLOPT_HTTPGET => true]) + [
            CURLOPT_NOBODY => $request->method === 'HEAD',
            CURLOPT_CUSTOMREQUEST => $request->method,
            CURLOPT_TIMEOUT_MS => max(1, (int) ceil($request->timeout * 1000)),
            CURLOPT_CONNECTTIMEOUT_MS => max(1, (int) ceil($request->connectTimeout * 1000)),
            // Where curl is built without RTSP, a PATCH must not be sent twice either.
            CURLOPT_FRESH_CONNECT => $request->method === 'PATCH',
            // http: is for this machine only, so that no proxy of the environment sees it.
            CURLOPT_NOPROXY => str_starts_with($request->url, 'http://') ? '*' : null,
        ];
    }

    private function handle(): \CurlHandle
    {
        $process = (int) getmypid();
        if ($this->handle !== null && $this->process === $process) {
            return $this->handle;
        }
        if ($this->handle !== null) {
            $this->inherited[] = $this->handle;
        }
        $this->process = $process;
        $this->shape = null;
        $handle = curl_init();
        // The callbacks hold the buffer, not this object: it would hold itself through its handle.
        [$buffer, $limit] = [$this->buffer, $this->maxResponseBytes];
        curl_setopt_array($handle, [
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_SSL_VERIFYPEER => true,
            CURLOPT_SSL_VERIFYHOST => 2,
            CURLOPT_PATH_AS_IS => true,
            CURLOPT_NOSIGNAL => true,
            CURLOPT_TCP_KEEPALIVE => 1,
            CURLOPT_SUPPRESS_CONNECT_HEADERS => true,
            // curl sends a request again by itself if a kept connection ends before the response, unless it is one that
            // only receives (RTSP's; HTTP takes no other notice). Whether to send again is for the retries to decide.
            CURLOPT_RTSP_REQUEST => CURL_RTSPREQ_RECEIVE,
            CURLOPT_HEADERFUNCTION => static function (\CurlHandle $_, string $line) use ($buffer): int {
                $buffer->head .= $line;
                return strlen($line);
            },
            CURLOPT_WRITEFUNCTION => static function (\CurlHandle $_, string $bytes) use ($buffer, $limit): int {
                if (strlen($buffer->body) + strlen($bytes) > $limit) {
                    $buffer->full = true;
                    return 0;
                }
                $buffer->body .= $bytes;
                return strlen($bytes);
            },
        ]);
        return $this->handle = $handle;
    }

    /** The texts are curl's own for the code: they name no address. */
    private function failure(int $code): TransportException
    {
        if (in_array($code, self::TIMED_OUT, true)) {
            return new TransportException('The service did not answer in time.', 'timeout');
        }
        if (in_array($code, self::UNUSABLE, true)) {
            $why = $this->buffer->full ? 'is too large' : 'is not readable';
            return new TransportException("The response $why.", 'invalid_response');
        }
        return new TransportException('The connection failed: ' . (curl_strerror($code) ?? 'unknown') . '.', 'connection');
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return [];
    }
}
