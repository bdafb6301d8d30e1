"""The course of one call: token, attempts, retries and errors. Written once for both clients, as steps without I/O."""

from __future__ import annotations

import random
import time
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, NamedTuple, Optional

from ._call import Call
from ._failures import failure_of, parsed, unreachable, unreadable
from ._log import AttemptRecord
from ._options import Settings, check_call
from ._responses import ResponseInfo, Result
from ._retry import backoff, is_retried
from ._steps import Send, Sleep, Steps
from ._tokens import Tokens
from .errors import AuthenticationError, ServiceError, TransportError
from .transport import Request, Response


def _key() -> str:
    return str(uuid.uuid4())


@dataclass(frozen=True)
class Platform:
    """Clocks, chance, sleep and new keys."""

    sleep: Callable[[float], Any] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    unix_time: Callable[[], float] = time.time
    random: Callable[[], float] = random.random
    key: Callable[[], str] = _key


class _Outcome(NamedTuple):
    """What came of one attempt: a response, an error, or both."""

    response: Optional[Response]
    body: Any
    error: Optional[ServiceError]


class Engine:
    """Carries out the calls of one client."""

    def __init__(self, settings: Settings, platform: Platform) -> None:
        self.settings = settings
        self.platform = platform
        self.tokens = Tokens(self)
        self.last_response: Optional[ResponseInfo] = None

    def call(self, call: Call) -> Steps[Any]:
        """Return the parsed reply of a call, after retries, or raise its error."""
        check_call(call.options)
        headers = self._headers(call)
        attempt = retries = 0
        token, renewed = "", False
        while True:
            attempt += 1
            if call.token:
                token = yield from self.tokens.current()
                headers["Authorization"] = f"Bearer {token}"
            outcome = yield from self._attempt(call, headers, attempt)
            error = outcome.error
            if error is None:
                return self._finish(call, outcome, retries)
            if call.token and not renewed and isinstance(error, AuthenticationError):
                renewed = True
                self.tokens.discard(token)
                continue
            wait = self._wait(call, error, retries + 1)
            if wait is None:
                self._finish(call, outcome, retries)
                raise error
            retries += 1
            yield Sleep(wait)

    def _attempt(self, call: Call, headers: Dict[str, str], attempt: int) -> Steps[_Outcome]:
        settings = self.settings
        request = Request(
            method=call.method,
            url=settings.base_url + call.target,
            headers=dict(headers),
            body=call.body,
            timeout=call.options.get("timeout") or settings.timeout,
            connect_timeout=settings.connect_timeout,
        )
        started = self.platform.monotonic()
        try:
            outcome = _read((yield Send(request)), attempt)
        except TransportError as error:
            error.attempts = attempt
            outcome = _Outcome(None, None, error)
        except OSError as cause:
            outcome = _Outcome(None, None, unreachable(cause, attempt))
        if settings.logger is not None:
            self._log(call, outcome, attempt, started)
        return outcome

    def _wait(self, call: Call, error: ServiceError, retry: int) -> Optional[float]:
        """Return the seconds until this retry, or None if the error is final."""
        allowed = call.options.get("max_retries")
        if retry > (self.settings.max_retries if allowed is None else allowed):
            return None
        if isinstance(error, TransportError) and error.reason == "invalid_response":
            return None
        if not is_retried(call.method, error.status, error.error_code):
            return None
        if (error.retry_after or 0.0) > self.settings.max_retry_after:
            return None
        return backoff(retry, self.platform.random(), error.retry_after)

    def _finish(self, call: Call, outcome: _Outcome, retries: int) -> Any:
        """Remember what is known of the response, and return the body."""
        response, body = outcome.response, outcome.body
        if response is None or not call.token:
            return body
        info = ResponseInfo(response.status, response.headers, retries)
        self.last_response = info
        if isinstance(body, dict):
            body = Result(body)
            body._response = info
        return body

    def _headers(self, call: Call) -> Dict[str, str]:
        options = call.options
        headers = {"Accept": "application/json", "User-Agent": self.settings.user_agent}
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        if call.method == "POST" and call.token:
            headers["Idempotency-Key"] = options.get("idempotency_key") or self.platform.key()
        if options.get("request_id"):
            headers["X-Request-Id"] = options["request_id"]
        if options.get("emergency_reason"):
            headers["X-Emergency-Access"] = "true"
            headers["X-Emergency-Reason"] = options["emergency_reason"]
        return headers

    def _log(self, call: Call, outcome: _Outcome, attempt: int, started: float) -> None:
        """Hand a record to the logger. One that raises does not break the call."""
        response, error = outcome.response, outcome.error
        record = AttemptRecord(
            method=call.method,
            path=call.label,
            status=response.status if response is not None else None,
            request_id=response.headers.get("x-request-id") if response is not None else None,
            attempt=attempt,
            duration_ms=(self.platform.monotonic() - started) * 1000,
            error=type(error).__name__ if error is not None else None,
        )
        try:
            if self.settings.logger is not None:
                self.settings.logger(record)
        except Exception:  # noqa: BLE001
            return


def _read(response: Response, attempt: int) -> _Outcome:
    if not 200 <= response.status < 300:
        return _Outcome(response, None, failure_of(response, attempt))
    if response.status == 204:
        return _Outcome(response, None, None)
    body = parsed(response.body)
    if isinstance(body, (dict, list)):
        return _Outcome(response, body, None)
    return _Outcome(response, None, unreadable(response, attempt))
