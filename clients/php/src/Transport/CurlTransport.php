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
    /** @var list<\CurlHandle> Handles of the parent process: closing one here would end its connection there. */
    private array $inherited = [];

    /** @param int $maxResponseBytes Bytes of a response body at most; a larger one raises TransportException */
    public function __construct(int $maxResponseBytes = 67_108_864)
    {
        $this->buffer = new ResponseBuffer($maxResponseBytes);
    }

    public function send(Request $request): Response
    {
        $handle = $this->handle();
        $this->buffer->clear();
        curl_setopt_array($handle, $this->options($request));
        $sent = curl_exec($handle);
        $response = $sent === false ? $this->failure(curl_errno($handle)) : $this->buffer->response();
        $this->buffer->clear();
        if ($response instanceof TransportException) {
            throw $response;
        }
        return $response;
    }

    /** @return array<int, mixed> */
    private function options(#[\SensitiveParameter] Request $request): array
    {
        $lines = ['Expect:'];
        foreach ($request->headers as $name => $value) {
            $lines[] = "$name: $value";
        }
        $body = $request->body;
        if ($body === null && in_array($request->method, ['POST', 'PUT', 'PATCH'], true)) {
            $body = '';
            $lines[] = 'Content-Type:';
        }
        // The order matters: HTTPGET and NOBODY set the method, CUSTOMREQUEST has the last word.
        return ($body === null ? [CURLOPT_HTTPGET => true] : [CURLOPT_POSTFIELDS => $body]) + [
            CURLOPT_NOBODY => $request->method === 'HEAD',
            CURLOPT_CUSTOMREQUEST => $request->method,
            CURLOPT_URL => $request->url,
            CURLOPT_HTTPHEADER => $lines,
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
        $handle = curl_init();
        $buffer = $this->buffer;
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
            CURLOPT_HEADERFUNCTION => static fn (\CurlHandle $_, string $line): int => $buffer->header($line),
            CURLOPT_WRITEFUNCTION => static fn (\CurlHandle $_, string $bytes): int => $buffer->write($bytes),
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
