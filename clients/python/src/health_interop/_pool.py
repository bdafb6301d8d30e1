"""The transport of ServiceClient: connections that are kept, and shared by threads."""

from __future__ import annotations

import http.client
import os
import time
from collections import deque
from typing import Deque, Optional
from urllib.parse import urlsplit

from ._connection import Connection, read, request_head
from ._tls import verified
from .transport import Request, Response

_MOST_IDLE = 32
_IDLE = 1.0
_NO_ANSWER = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, ConnectionAbortedError)


class Pool:
    """Keeps idle connections to one host. Safe for threads, and for a process that forks."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port or (http.client.HTTPS_PORT if secure else http.client.HTTP_PORT)
        self._name = parts.netloc
        self._context = verified() if secure else None
        self._prefix = len(base_url)
        self._idle: Deque[Connection] = deque()
        self._process = os.getpid()

    def __call__(self, request: Request) -> Response:
        """Send a request. An idle connection that is lost before any byte of the response is replaced once.

        A connection that was used a moment ago has no reason to be closed: its loss is an error like any other.
        """
        deadline = time.monotonic() + request.timeout
        connection = self._kept()
        if connection is not None:
            was_idle = time.monotonic() - connection.used >= _IDLE
            try:
                return self._send(connection, request, deadline)
            except _NO_ANSWER:
                if request.method == "PATCH" or connection.answered or not was_idle:
                    raise
        fresh = Connection(self._host, self._port, self._context, request, deadline)
        return self._send(fresh, request, deadline)

    def close(self) -> None:
        """Close the idle connections."""
        while True:
            try:
                self._idle.pop().close()
            except IndexError:
                return

    def _kept(self) -> Optional[Connection]:
        """Take an idle connection that is still open. A child process leaves those of its parent alone."""
        if self._process != os.getpid():
            self._idle.clear()
            self._process = os.getpid()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if not connection.is_stale():
                return connection
            connection.close()

    def _send(self, connection: Connection, request: Request, deadline: float) -> Response:
        """Send on this connection; keep it if it can be used again."""
        try:
            head = request_head(request, request.url[self._prefix :], self._name)
            reply = connection.exchange(head, request, deadline)
            response = read(reply)
        except http.client.HTTPException as error:
            connection.close()
            if isinstance(error, OSError):
                raise
            raise ConnectionError(f"The response broke off or is no HTTP: {type(error).__name__}.") from error
        except BaseException:
            connection.close()
            raise
        if reply.will_close or len(self._idle) >= _MOST_IDLE:
            connection.close()
        else:
            connection.used = time.monotonic()
            self._idle.append(connection)
        return response
