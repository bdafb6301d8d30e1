"""The client for asyncio: the same methods, to be awaited."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from ._call import custom
from ._engine import Engine, Platform
from ._options import Logger, settings
from ._responses import ResponseInfo
from ._async.driver import AsyncDriver
from ._async.consents import Consents
from ._async.fhir import Fhir
from ._async.health_ids import HealthIds
from ._async.inventory import Inventory
from ._async.patients import Patients
from ._async.payments import Payments
from ._async.records import Records
from ._async.tokens import Tokens
from ._async.webhooks import Webhooks
from .transport import AsyncTransport

if TYPE_CHECKING:
    from types import TracebackType

    from ._httpx import HttpxTransport
    from ._options import RequestOptions
    from ._token_cache import AsyncTokenCache, TokenCache
    from ._typing import Unpack


class AsyncServiceClient:
    """A client of the service, for one integration client and one event loop.

    ``await AsyncServiceClient.create(...)`` also fetches the token; a client that is constructed without it fetches
    the token with the first call. Needs httpx (``pip install health-interop[async]``) unless a transport is given.

    Args:
        client_id: The id of the integration client.
        client_secret: Its secret.
        environment: ``local``, ``sandbox`` or ``production``.
        base_url: The address of the service, without a path. Default: ``HEALTH_INTEROP_BASE_URL``; for ``local``
            also ``http://127.0.0.1:8080``.
        scopes: Scopes to request. Default: all scopes of the client.
        timeout: Total seconds of one attempt, response body included.
        connect_timeout: Seconds to connect.
        max_retries: Retries after the first attempt, 0 to 10.
        max_retry_after: The longest ``Retry-After`` in seconds that is waited for.
        user_agent: Text after the library's own User-Agent.
        transport: Sends one request; for tests, proxies and adapters.
        logger: Receives an :class:`AttemptRecord` for each attempt.
        token_cache: Keeps the token between processes, such as those of a serverless platform. Its methods may be
            awaitable; those that are not block the event loop.
    """

    _platform = Platform(sleep=asyncio.sleep)

    def __init__(
        self,
        client_id: str,
        client_secret: str,
        environment: str,
        *,
        base_url: Optional[str] = None,
        scopes: Optional[Sequence[str]] = None,
        timeout: float = 30.0,
        connect_timeout: float = 5.0,
        max_retries: int = 2,
        max_retry_after: float = 60.0,
        user_agent: Optional[str] = None,
        transport: Optional[AsyncTransport] = None,
        logger: Optional[Logger] = None,
        token_cache: Union[TokenCache, AsyncTokenCache, None] = None,
    ) -> None:
        checked = settings(
            client_id=client_id,
            client_secret=client_secret,
            environment=environment,
            base_url=base_url,
            scopes=scopes,
            timeout=timeout,
            connect_timeout=connect_timeout,
            max_retries=max_retries,
            max_retry_after=max_retry_after,
            user_agent=user_agent,
            transport=transport,
            logger=logger,
            token_cache=token_cache,
        )
        self._own: Optional[HttpxTransport] = None
        if transport is None:
            transport = self._own = _httpx()
        self._engine = Engine(checked, self._platform)
        self._driver = AsyncDriver(transport, self._platform.sleep)
        parts = (self._engine, self._driver)
        self.health_ids = HealthIds(*parts)
        self.patients = Patients(*parts)
        self.fhir = Fhir(*parts)
        self.records = Records(*parts)
        self.consents = Consents(*parts)
        self.webhooks = Webhooks(*parts)
        self.inventory = Inventory(*parts)
        self.payments = Payments(*parts)
        self.tokens = Tokens(*parts)

    @classmethod
    async def create(cls, *args: Any, **options: Any) -> AsyncServiceClient:
        """Return a client that has its token. Wrong credentials raise :class:`AuthenticationError`."""
        client = cls(*args, **options)
        try:
            await client._driver.run(client._engine.tokens.current())
        except BaseException:
            await client.close()
            raise
        return client

    @property
    def last_response(self) -> Optional[ResponseInfo]:
        """What is known of the response of the last finished call, or None before the first."""
        return self._engine.last_response

    async def request(self, method: str, path: str, **options: Unpack[RequestOptions]) -> Any:
        """Send a request to any path of the service, with its ``query`` and ``body``."""
        return await self._driver.run(self._engine.call(custom(method, path, options)))

    async def close(self) -> None:
        """Close the kept connections. The client cannot be used afterwards."""
        if self._own is not None:
            await self._own.close()

    async def __aenter__(self) -> AsyncServiceClient:
        return self

    async def __aexit__(
        self, kind: Optional[type], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return self._engine.settings.describe("AsyncServiceClient")


def _httpx() -> HttpxTransport:
    """Return the transport over httpx; without httpx, say how to install it."""
    try:
        from ._httpx import HttpxTransport
    except ImportError:
        raise ImportError("AsyncServiceClient needs httpx: pip install 'health-interop[async]'") from None
    return HttpxTransport()
