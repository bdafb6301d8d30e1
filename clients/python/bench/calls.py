"""Measures calls a second and CPU per call: the library against bare http.client, on one kept connection of loopback.

Usage: PYTHONPATH=src python bench/calls.py [CALLS [ROUNDS]]
Both take turns, round by round, in one process; the server is another process. Printed are medians of the rounds.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import socket
import statistics
import sys
import time
from typing import Any, Callable, Dict, List, Tuple

from health_interop import ServiceClient

_BODY = json.dumps({"active": True, "scopes": ["patients:read"], "client_id": "x", "expires_at": "2026-01-01T00:00:00Z"})
_HEADERS = (
    "Content-Type: application/json; charset=utf-8\r\nX-Request-Id: 0198f0c2-7c1e-7000-8000-000000000000\r\n"
    'RateLimit-Policy: "default";q=600;w=60\r\nRateLimit: "default";r=599;t=1\r\nCache-Control: no-store\r\n'
    "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n"
)
_TOKEN = json.dumps({"access_token": "t" * 700, "token_type": "Bearer", "expires_in": 3600})


def serve(listener: socket.socket) -> None:
    """Answer every request; a request arrives in one piece here."""
    replies = [
        f"HTTP/1.1 200 OK\r\n{_HEADERS}Content-Length: {len(body)}\r\n\r\n{body}".encode() for body in (_TOKEN, _BODY)
    ]
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            pending = b""
            while data := connection.recv(65536):
                pending += data
                while b"\r\n\r\n" in pending:
                    head, _, rest = pending.partition(b"\r\n\r\n")
                    is_token = head.startswith(b"POST")
                    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                    if len(rest) < length:
                        break
                    pending = rest[length:]
                    connection.sendall(replies[0] if is_token else replies[1])
                if b"GET /quit" in data:
                    break


def bare(port: int) -> Callable[[], Any]:
    """Return a call with http.client, with the headers that the library sends."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Accept": "application/json", "User-Agent": "bare/1.0", "Authorization": "Bearer " + "t" * 700}

    def call() -> Any:
        connection.request("GET", "/api/v1/sdk/token/introspect", None, headers)
        reply = connection.getresponse()
        return json.loads(reply.read())

    call.close = connection.close  # type: ignore[attr-defined]
    return call


def library(port: int) -> Callable[[], Any]:
    """Return the same call with the library."""
    client = ServiceClient("id", "secret", "local", base_url=f"http://127.0.0.1:{port}")

    def call() -> Any:
        return client.tokens.introspect()

    call.close = client.close  # type: ignore[attr-defined]
    return call


def measure(call: Callable[[], Any], calls: int) -> Tuple[float, float]:
    """Return calls a second, and milliseconds of CPU per call."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(calls):
        call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return calls / wall, cpu * 1000 / calls


def main() -> None:
    """Measure, and print a table."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    servers = [multiprocessing.Process(target=serve, args=(each,), daemon=True) for each in listeners]
    for server in servers:
        server.start()
    made = {"http.client": bare(listeners[0].getsockname()[1]), "health_interop": library(listeners[1].getsockname()[1])}
    found: Dict[str, List[Tuple[float, float]]] = {name: [] for name in made}
    for number in range(rounds + 1):
        for name, call in made.items():
            result = measure(call, calls)
            if number > 0:
                found[name].append(result)
    for name, results in found.items():
        rate, cpu = (statistics.median(column) for column in zip(*results))
        print(f"{name:15} {rate:8.0f} calls/s {cpu:8.4f} ms CPU/call")
    ratios = [mine[1] / other[1] for mine, other in zip(found["health_interop"], found["http.client"])]
    print(f"{'CPU ratio':15} {statistics.median(ratios):8.3f}")
    for server in servers:
        server.terminate()


if __name__ == "__main__":
    main()
