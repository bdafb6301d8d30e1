"""The transport of AsyncServiceClient: httpx (`pip install health-interop[async]`)."""

from __future__ import annotations

import asyncio
from typing import Dict

import httpx

from ._tls import verified
from .transport import Request, Response


class HttpxTransport:
    """Sends requests over connections that are kept. Proxies and credentials of the environment are not used."""

    def __init__(self) -> None:
        self._client = httpx.AsyncClient(
            verify=verified(),
            follow_redirects=False,
            trust_env=False,
            headers={"Accept-Encoding": "identity"},
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
        )

    async def __call__(self, request: Request) -> Response:
        """Send a request, with one deadline for the whole attempt."""
        try:
            return await asyncio.wait_for(self._send(request), request.timeout)
        except (asyncio.TimeoutError, httpx.TimeoutException) as error:
            raise TimeoutError("timed out") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise ConnectionError(f"The connection failed: {type(error).__name__}.") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _send(self, request: Request) -> Response:
        reply = await self._client.request(
            request.method,
            request.url,
            headers=[(name.encode(), value.encode()) for name, value in request.headers.items()],
            content=request.body,
            timeout=httpx.Timeout(None, connect=request.connect_timeout),
        )
        headers: Dict[str, str] = dict(reply.headers)
        return Response(reply.status_code, headers, reply.content)
