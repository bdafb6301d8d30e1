"""The client for threads: every method blocks until its reply is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

from ._call import custom
from ._engine import Engine, Platform
from ._options import Logger, settings
from ._pool import Pool
from ._responses import ResponseInfo
from ._steps import Driver
from ._sync.consents import Consents
from ._sync.fhir import Fhir
from ._sync.health_ids import HealthIds
from ._sync.inventory import Inventory
from ._sync.patients import Patients
from ._sync.payments import Payments
from ._sync.records import Records
from ._sync.tokens import Tokens
from ._sync.webhooks import Webhooks
from .transport import Transport

if TYPE_CHECKING:
    from types import TracebackType

    from ._options import RequestOptions
    from ._token_cache import TokenCache
    from ._typing import Unpack


class ServiceClient:
    """A client of the service, for one integration client. Safe for threads.

    The token is fetched here: wrong credentials raise :class:`AuthenticationError`.

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
        token_cache: Keeps the token between processes, such as those of a serverless platform.
    """

    _platform = Platform()

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
        transport: Optional[Transport] = None,
        logger: Optional[Logger] = None,
        token_cache: Optional[TokenCache] = None,
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
        self._own: Optional[Pool] = None
        if transport is None:
            transport = self._own = Pool(checked.base_url)
        self._engine = Engine(checked, self._platform)
        self._driver = Driver(transport, self._platform.sleep)
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
        try:
            self._driver.run(self._engine.tokens.current())
        except BaseException:
            self.close()
            raise

    @property
    def last_response(self) -> Optional[ResponseInfo]:
        """What is known of the response of the last finished call, or None before the first."""
        return self._engine.last_response

    def request(self, method: str, path: str, **options: Unpack[RequestOptions]) -> Any:
        """Send a request to any path of the service, with its ``query`` and ``body``."""
        return self._driver.run(self._engine.call(custom(method, path, options)))

    def close(self) -> None:
        """Close the kept connections. The client opens new ones if it is used again."""
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> ServiceClient:
        return self

    def __exit__(
        self, kind: Optional[type], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return self._engine.settings.describe("ServiceClient")
