<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Exception\TransportException;
use HealthInterop\Transport\CurlTransport;
use HealthInterop\Transport\Request;
use PHPUnit\Framework\TestCase;

/** A server that shows a certificate of its own making is not talked to. */
final class TlsTest extends TestCase
{
    /** Serves one line over TLS to whoever accepts its certificate. */
    private const SERVER = <<<'PHP'
        $context = stream_context_create(['ssl' => ['local_cert' => $argv[1]]]);
        $server = stream_socket_server('tls://127.0.0.1:0', $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
        echo strrchr(stream_socket_get_name($server, false), ':'), "\n";
        while (true) {
            if ($connection = @stream_socket_accept($server, 30)) {
                fread($connection, 8192);
                fwrite($connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
                fclose($connection);
            }
        }
        PHP;

    public function testAnUnknownCertificateIsRefused(): void
    {
        if (!extension_loaded('openssl')) {
            self::markTestSkipped('Needs ext-openssl.');
        }
        $file = $this->certificate();
        $process = proc_open([PHP_BINARY, '-r', self::SERVER, $file], [1 => ['pipe', 'w'], 2 => ['file', '/dev/null', 'w']], $pipes);
        $url = 'https://127.0.0.1' . trim((string) fgets($pipes[1])) . '/secret';
        try {
            $careless = curl_init($url);
            curl_setopt_array($careless, [CURLOPT_SSL_VERIFYPEER => false, CURLOPT_SSL_VERIFYHOST => 0, CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 10]);
            self::assertSame('{}', curl_exec($careless), 'The server answers those who do not look at its certificate.');
            (new CurlTransport())->send(new Request('GET', $url, [], null, 10, 5));
            self::fail('The certificate was accepted.');
        } catch (TransportException $error) {
            self::assertSame('connection', $error->reason);
            self::assertMatchesRegularExpression('/SSL|certificate/i', $error->getMessage());
        } finally {
            proc_terminate($process);
            proc_close($process);
            unlink($file);
        }
    }

    /** A file with a key and a certificate for 127.0.0.1 that nobody else has signed. */
    private function certificate(): string
    {
        $key = openssl_pkey_new(['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1']);
        $request = openssl_csr_new(['commonName' => '127.0.0.1'], $key, ['digest_alg' => 'sha256']);
        openssl_x509_export(openssl_csr_sign($request, null, $key, 1, ['digest_alg' => 'sha256']), $certificate);
        openssl_pkey_export($key, $private);
        $file = (string) tempnam(sys_get_temp_dir(), 'tls');
        file_put_contents($file, $certificate . $private);
        return $file;
    }
}
