"""The transport of ServiceClient: http.client with connections that are kept and shared by threads."""

from __future__ import annotations

import http.client
import io
import os
import select
import socket
import ssl
import time
from collections import deque
from typing import Any, Deque, Dict, Optional
from urllib.parse import urlsplit

from ._tls import verified
from .transport import Request, Response

_MOST_IDLE = 32
_IDLE = 1.0
_NO_STATUS = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, ConnectionAbortedError)


class _Reader(io.RawIOBase):
    """Reads from a socket until the deadline of the attempt, however slowly the bytes arrive."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        connection = self._connection
        connection.raw.settimeout(connection.remaining())
        count = connection.raw.recv_into(buffer)
        connection.answered = connection.answered or count > 0
        return count


class _Wire:
    """A socket as http.client uses it, with the deadline of the attempt on every read."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._connection))

    def sendall(self, data: bytes) -> None:
        connection = self._connection
        connection.raw.settimeout(connection.remaining())
        connection.raw.sendall(data)

    def close(self) -> None:
        """Do nothing: http.client closes before the last response is read. The pool closes the socket itself."""


class _Connection(http.client.HTTPConnection):
    """A connection with a deadline for the attempt that uses it."""

    raw: socket.socket
    deadline = 0.0
    answered = False
    was_idle = False
    used = 0.0

    def __init__(
        self, host: str, port: Optional[int], context: Optional[ssl.SSLContext], connect_timeout: float
    ) -> None:
        super().__init__(host, port)
        self._context = context
        self._connect_timeout = connect_timeout
        self.default_port = http.client.HTTP_PORT if context is None else http.client.HTTPS_PORT
        if port is None:
            self.port = self.default_port

    def connect(self) -> None:
        sock = socket.create_connection((self.host, self.port), min(self._connect_timeout, self.remaining()))
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.raw = sock if self._context is None else self._context.wrap_socket(sock, server_hostname=self.host)
        except BaseException:
            sock.close()
            raise
        self.sock = _Wire(self)

    def drop(self) -> None:
        """Close the connection."""
        if hasattr(self, "raw"):
            self.raw.close()
        self.close()

    def remaining(self) -> float:
        """Return the seconds until the deadline, or raise TimeoutError."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left

    def is_stale(self) -> bool:
        """Return whether the other side has closed the idle connection, or sent what nobody asked for."""
        try:
            if hasattr(select, "poll"):
                poll = select.poll()
                poll.register(self.raw, select.POLLIN)
                return bool(poll.poll(0))
            return bool(select.select([self.raw], [], [], 0)[0])
        except (OSError, ValueError):
            return True


class Pool:
    """Keeps idle connections to one host. Safe for threads, and for a process that forks."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self._host, self._port = parts.hostname or "", parts.port
        self._context = verified() if parts.scheme == "https" else None
        self._prefix = len(base_url)
        self._idle: Deque[_Connection] = deque()
        self._process = os.getpid()

    def __call__(self, request: Request) -> Response:
        """Send a request. An idle connection that is lost before any byte of the response is replaced once.

        A connection that was used a moment ago has no reason to be closed: its loss is an error like any other.
        """
        deadline = time.monotonic() + request.timeout
        connection = self._kept()
        if connection is not None:
            try:
                return self._send(connection, request, deadline)
            except _NO_STATUS:
                if request.method == "PATCH" or connection.answered or not connection.was_idle:
                    raise
        fresh = _Connection(self._host, self._port, self._context, request.connect_timeout)
        return self._send(fresh, request, deadline)

    def close(self) -> None:
        """Close the idle connections."""
        while True:
            try:
                self._idle.pop().drop()
            except IndexError:
                return

    def _kept(self) -> Optional[_Connection]:
        """Take an idle connection that is still open."""
        if self._process != os.getpid():
            self._idle.clear()
            self._process = os.getpid()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if not connection.is_stale():
                connection.was_idle = time.monotonic() - connection.used >= _IDLE
                return connection
            connection.drop()

    def _send(self, connection: _Connection, request: Request, deadline: float) -> Response:
        """Send on this connection; keep it if it can be used again."""
        connection.deadline, connection.answered = deadline, False
        try:
            headers = {name: value.encode() for name, value in request.headers.items()}
            connection.request(request.method, request.url[self._prefix :], request.body, headers)
            reply = connection.getresponse()
            response = Response(reply.status, _headers(reply), reply.read())
        except http.client.HTTPException as error:
            connection.drop()
            if isinstance(error, OSError):
                raise
            raise ConnectionError(f"The response broke off or is no HTTP: {type(error).__name__}.") from error
        except BaseException:
            connection.drop()
            raise
        if reply.will_close or len(self._idle) >= _MOST_IDLE:
            connection.drop()
        else:
            connection.used = time.monotonic()
            self._idle.append(connection)
        return response


def _headers(reply: http.client.HTTPResponse) -> Dict[str, str]:
    headers: Dict[str, str] = {}
    for name, value in reply.getheaders():
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers
