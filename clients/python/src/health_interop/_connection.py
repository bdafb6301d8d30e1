"""One connection: sends a request in one piece, reads the response with http.client, never beyond the deadline."""

from __future__ import annotations

import http.client
import io
import select
import socket
import ssl
import time
from typing import Any, Callable, Dict, Optional

from .transport import Request, Response

_MOST_HEADERS = 100
_LONGEST_LINE = 65536
_SLACK = 0.01


class Connection:
    """A socket with the deadline of the attempt that uses it."""

    def __init__(
        self, host: str, port: int, context: Optional[ssl.SSLContext], request: Request, deadline: float
    ) -> None:
        self._deadline = deadline
        sock = socket.create_connection((host, port), min(request.connect_timeout, self._remaining()))
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = sock if context is None else context.wrap_socket(sock, server_hostname=host)
        except BaseException:
            sock.close()
            raise
        self._timeout = -1.0
        self._set_at = 0.0
        self._readable = _poll(self._socket)
        self.answered = False
        self.used = 0.0

    def exchange(self, head: bytes, request: Request, deadline: float) -> _Reply:
        """Send a request and read the head of its response."""
        self._deadline, self.answered = deadline, False
        self._limit(request.timeout)
        self._socket.sendall(head if request.body is None else head + request.body)
        reply = _Reply(self, method=request.method)
        reply.begin()
        return reply

    def is_stale(self) -> bool:
        """Return whether the other side has closed the idle connection, or sent what nobody asked for."""
        try:
            return self._readable()
        except (OSError, ValueError):
            return True

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return a reader of the socket, as http.client asks for it."""
        return io.BufferedReader(_Reader(self))

    def receive(self, buffer: Any) -> int:
        """Read what has arrived, or wait for it until the deadline."""
        if time.monotonic() - self._set_at > _SLACK:
            self._limit(self._remaining())
        count = self._socket.recv_into(buffer)
        self.answered = self.answered or count > 0
        return count

    def _limit(self, seconds: float) -> None:
        """Set the timeout of the socket, if it is another: it costs a call of the system."""
        self._set_at = time.monotonic()
        if seconds != self._timeout:
            self._timeout = seconds
            self._socket.settimeout(seconds)

    def _remaining(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left


class _Reader(io.RawIOBase):
    """The bytes of a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._connection.receive(buffer)


class _Reply(http.client.HTTPResponse):
    """A response whose headers are a dict: http.client reads them as an e-mail, which takes longer than all the rest."""

    fields: Dict[str, str]

    def __init__(self, connection: Connection, method: str) -> None:
        super().__init__(connection, method=method)  # type: ignore[arg-type]

    def begin(self) -> None:
        """Read status and headers, and find out how the body ends."""
        version, status, reason = self._read_status()  # type: ignore[attr-defined]
        headers = self._read_fields()
        while http.client.CONTINUE <= status < http.client.OK:
            version, status, reason = self._read_status()  # type: ignore[attr-defined]
            headers = self._read_fields()
        self.code, self.status, self.reason = status, status, reason.strip()
        self.version = 10 if version == "HTTP/1.0" else 11
        self.fields = self.headers = self.msg = headers  # type: ignore[assignment]
        self.chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        self.chunk_left = None
        self.length = None if self.chunked else self._length(headers.get("content-length", ""))
        self.will_close = self._check_close() or (self.length is None and not self.chunked)  # type: ignore[attr-defined]

    def _length(self, text: str) -> Optional[int]:
        if self.status in (http.client.NO_CONTENT, http.client.NOT_MODIFIED) or self._method == "HEAD":  # type: ignore[attr-defined]
            return 0
        return int(text) if text.isascii() and text.isdigit() else None

    def _read_fields(self) -> Dict[str, str]:
        fields: Dict[str, str] = {}
        for _ in range(_MOST_HEADERS):
            line = self.fp.readline(_LONGEST_LINE + 1)
            if len(line) > _LONGEST_LINE:
                raise http.client.LineTooLong("header line")
            if line in (b"\r\n", b"\n", b""):
                return fields
            name, _, text = line.decode("latin-1").partition(":")
            key, value = name.lower(), text.strip()
            fields[key] = f"{fields[key]}, {value}" if key in fields else value
        raise http.client.HTTPException("too many headers")


def request_head(request: Request, target: str, host: str) -> bytes:
    """Return the first line and the headers of a request. Headers are UTF-8."""
    lines = [f"{request.method} {target} HTTP/1.1", f"Host: {host}", "Accept-Encoding: identity"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    if request.body is not None or request.method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(request.body or b'')}")
    head = "\r\n".join(lines)
    if head.count("\n") != len(lines) - 1 or head.count("\r") != len(lines) - 1:
        raise ValueError("A header holds a line break.")
    return (head + "\r\n\r\n").encode()


def read(reply: _Reply) -> Response:
    """Read a response to its end."""
    return Response(reply.status, reply.fields, reply.read())


def _poll(sock: socket.socket) -> Callable[[], bool]:
    """Return a function that says whether a socket has something to read, or is closed."""
    if not hasattr(select, "poll"):
        return lambda: bool(select.select([sock], [], [], 0)[0])
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return lambda: bool(poll.poll(0))
