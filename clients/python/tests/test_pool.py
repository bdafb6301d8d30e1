"""Connections: kept, shared, replaced when they are stale, and never longer than the timeout."""

from __future__ import annotations

import os
import select
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
from typing import Any, Callable, List, Optional
from unittest import mock

from health_interop import Request, Response
from health_interop._pool import Pool

_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Request-Id: req-1\r\n\r\n{}"


class Server:
    """A server of sockets: `answer(connection, number, request)` plays the conversation of each connection."""

    def __init__(
        self, answer: Callable[[socket.socket, int, int], bool], context: Optional[ssl.SSLContext] = None
    ) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._context = context
        scheme = "http" if context is None else "https"
        self.url = "%s://127.0.0.1:%d" % (scheme, self._listener.getsockname()[1])
        self.connections = 0
        self.requests: List[bytes] = []
        self._answer = answer
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection, self.connections), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            connection = connection if self._context is None else self._context.wrap_socket(connection, server_side=True)
        except OSError:
            return
        with connection:
            count = 0
            while True:
                try:
                    data = connection.recv(65536)
                    count += 1
                    self.requests += [data] if data else []
                    if not data or not self._answer(connection, number, count):
                        return
                except OSError:
                    return

    def close(self) -> None:
        self._listener.close()


def say(connection: socket.socket, text: bytes = _OK) -> bool:
    """Answer, and keep the connection."""
    connection.sendall(text)
    return True


def reset(connection: socket.socket) -> bool:
    """Close the connection so that the other side sees a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    return False


class Connections(unittest.TestCase):
    def start(self, answer: Callable[[socket.socket, int, int], bool]) -> None:
        self.server = Server(answer)
        self.pool = Pool(self.server.url)
        self.addCleanup(self.server.close)
        self.addCleanup(self.pool.close)

    def send(self, method: str = "GET", timeout: float = 5.0, body: Optional[bytes] = None) -> Response:
        return self.pool(Request(method, self.server.url + "/x", {"A": "é"}, body, timeout, 5.0))

    def age(self) -> None:
        """Make the kept connections look idle for a while."""
        for connection in self.pool._idle:
            connection.used -= 10

    def test_kept(self) -> None:
        """a connection is kept and used again; headers are UTF-8 and names of reply headers in lower case"""
        self.start(lambda connection, number, count: say(connection))
        replies = [self.send() for _ in range(3)]
        self.assertEqual((self.server.connections, replies[2].headers["x-request-id"]), (1, "req-1"))
        self.assertIn("A: é".encode(), self.server.requests[0])

    def test_close_header(self) -> None:
        """a response that says Connection: close is read to its end, and its connection not used again"""
        text = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}"
        self.start(lambda connection, number, count: say(connection, text) and False)
        self.assertEqual([self.send().body, self.send().body], [b"{}", b"{}"])
        self.assertEqual(self.server.connections, 2)

    def test_closed_while_idle(self) -> None:
        """a connection that the server closed while it was idle is replaced, even for a PATCH"""
        self.start(lambda connection, number, count: say(connection) and number > 1)
        self.send()
        select.select([self.pool._idle[0]._socket], [], [], 5)
        self.assertEqual(self.send("PATCH").status, 200)
        self.assertEqual((self.server.connections, len(self.server.requests)), (2, 2))

    def test_lost_after_idle(self) -> None:
        """an idle connection that is reset under the request is replaced once, and the request sent again"""
        self.start(lambda connection, number, count: reset(connection) if (number, count) == (1, 2) else say(connection))
        self.send()
        self.age()
        self.assertEqual(self.send("POST", body=b"{}").status, 200)
        self.assertEqual((self.server.connections, len(self.server.requests)), (2, 3))

    def test_lost_after_use(self) -> None:
        """a connection that is reset right after use, or again when fresh, is an error"""
        self.start(lambda connection, number, count: reset(connection) if count == 2 or number > 1 else say(connection))
        self.send()
        with self.assertRaises(OSError):
            self.send()
        self.assertEqual(len(self.server.requests), 2)

    def test_lost_patch(self) -> None:
        """a PATCH whose connection is reset is not sent again"""
        self.start(lambda connection, number, count: reset(connection) if count == 2 else say(connection))
        self.send()
        self.age()
        with self.assertRaises(OSError):
            self.send("PATCH", body=b"{}")
        self.assertEqual(len(self.server.requests), 2)

    def test_lost_in_response(self) -> None:
        """a connection that is lost within a response is an error, however long it was idle"""
        part = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
        self.start(lambda connection, number, count: say(connection, part) and False if count == 2 else say(connection))
        self.send()
        self.age()
        with self.assertRaises(OSError):
            self.send()
        self.assertEqual((self.server.connections, len(self.server.requests)), (1, 2))

    def test_dripping(self) -> None:
        """the timeout is for the whole attempt: bytes that drip do not prolong it"""

        def drip(connection: socket.socket, number: int, count: int) -> bool:
            for letter in b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b" " * 1000:
                connection.sendall(bytes([letter]))
                time.sleep(0.02)
            return True

        self.start(drip)
        started = time.monotonic()
        with self.assertRaises(OSError) as raised:
            self.send(timeout=0.2)
        self.assertIsInstance(raised.exception, (TimeoutError, socket.timeout))
        self.assertLess(time.monotonic() - started, 2)

    def test_bodies(self) -> None:
        """chunks, an interim response, no body and repeated headers are read, and the connection kept"""
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\nTrailer: x\r\n\r\n"
        interim = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + _OK
        empty = b"HTTP/1.1 204 No Content\r\nVary:a\r\nvary: b \r\n\r\n"
        texts = [chunked, interim, empty, _OK]
        self.start(lambda connection, number, count: say(connection, texts[count - 1]))
        replies = [self.send("POST", body=b"{}") for _ in texts]
        self.assertEqual([(each.status, each.body) for each in replies], [(200, b"{}"), (200, b"{}"), (204, b""), (200, b"{}")])
        self.assertEqual((replies[2].headers, self.server.connections), ({"vary": "a, b"}, 1))

    def test_endless_head(self) -> None:
        """headers without end are a connection error"""
        self.start(lambda connection, number, count: say(connection, b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200) and False)
        with self.assertRaises(ConnectionError):
            self.send()
        self.start(lambda connection, number, count: say(connection, b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70000) and False)
        with self.assertRaises(ConnectionError):
            self.send()

    def test_line_break(self) -> None:
        """a header with a line break is never sent"""
        self.start(lambda connection, number, count: say(connection))
        for value in ("a\r\nX: y", "a\ny", "a\ry"):
            with self.assertRaises(ValueError):
                self.pool(Request("GET", self.server.url + "/x", {"A": value}, None, 5.0, 5.0))
        self.assertEqual(self.server.requests, [])

    def test_no_http(self) -> None:
        """what is no HTTP is a connection error"""
        self.start(lambda connection, number, count: say(connection, b"SSH-2.0-x\r\n") and False)
        with self.assertRaises(ConnectionError):
            self.send()

    def test_threads(self) -> None:
        """threads have connections of their own at the same time, and leave them to each other"""
        gate = threading.Barrier(4)

        def answer(connection: socket.socket, number: int, count: int) -> bool:
            if count == 1:
                gate.wait(5)
            return say(connection)

        self.start(answer)
        threads = [threading.Thread(target=self.send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for _ in range(5):
            self.send()
        self.assertEqual((self.server.connections, len(self.server.requests)), (4, 9))

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_fork(self) -> None:
        """a process that forks does not share its connections with its child"""
        self.start(lambda connection, number, count: say(connection))
        self.send()
        with mock.patch("os.getpid", lambda: -1):
            self.send()
        self.assertEqual(self.server.connections, 2)

    def test_connect_timeout(self) -> None:
        """connecting takes at most connect_timeout, and never more than the attempt"""
        self.start(lambda connection, number, count: say(connection))
        for timeout, connect_timeout, expected in ((30.0, 5.0, 5.0), (2.0, 5.0, 2.0)):
            with mock.patch("socket.create_connection", side_effect=TimeoutError) as connect:
                with self.assertRaises(TimeoutError):
                    self.pool(Request("GET", self.server.url + "/x", {}, None, timeout, connect_timeout))
            self.assertAlmostEqual(connect.call_args.args[1], expected, delta=0.5)

    def test_large(self) -> None:
        """a body of megabytes arrives whole"""
        text = b"x" * 5_000_000
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text)
        self.start(lambda connection, number, count: say(connection, head + text))
        self.assertEqual(self.send(timeout=30).body, text)


class Tls(unittest.TestCase):
    def test_context(self) -> None:
        """certificates and names are verified"""
        context: Any = Pool("https://127.0.0.1:1")._context
        self.assertTrue(context.check_hostname)
        self.assertEqual(context.verify_mode.name, "CERT_REQUIRED")

    @unittest.skipIf(shutil.which("openssl") is None, "openssl is not installed")
    def test_https(self) -> None:
        """a certificate that nobody vouches for is refused; over a trusted one requests share a connection"""
        with tempfile.TemporaryDirectory() as folder:
            names = {"keyout": os.path.join(folder, "key.pem"), "out": os.path.join(folder, "cert.pem")}
            command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1"
            paths = [part for name, path in names.items() for part in (f"-{name}", path)]
            subprocess.run([*command.split(), *paths], check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(names["out"], names["keyout"])
            trusted = ssl.create_default_context(cafile=names["out"])
        server = Server(lambda connection, number, count: say(connection), context)
        self.addCleanup(server.close)
        pool = Pool(server.url)
        request = Request("GET", server.url + "/x", {}, None, 5.0, 5.0)
        with self.assertRaises(ssl.SSLCertVerificationError):
            pool(request)
        pool._context = trusted
        self.assertEqual([pool(request).body for _ in range(3)], [b"{}"] * 3)
        self.assertEqual(len({id(each) for each in pool._idle}), 1)
        pool.close()
