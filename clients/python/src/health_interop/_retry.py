"""When a call is sent again, and after which wait."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Mapping, Optional

_LONGEST_WAIT = 8.0
_FIRST_WAIT = 0.5
_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)


def backoff(retry: int, random: float, retry_after: Optional[float] = None) -> float:
    """Return the seconds to wait before a retry (from 1), for a random number from 0 to 1."""
    return max(random * min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (retry - 1)), retry_after or 0.0)


def retry_after_of(headers: Mapping[str, str]) -> Optional[float]:
    """Return the seconds of ``Retry-After``; a date counts from the ``Date`` of the same response."""
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return float(int(text))
    until = _date(text)
    if until is None:
        return None
    since = _date(headers.get("date", ""))
    return None if since is None else max(0.0, (until - since).total_seconds())


def is_retried(method: str, status: Optional[int], error_code: Optional[str]) -> bool:
    """Return whether a call is sent again after this outcome; ``status`` is None if no response arrived."""
    if method == "PATCH":
        return status == 429
    if status is None or status in (408, 429) or status >= 500:
        return True
    return status == 409 and error_code == "IDEMPOTENCY_IN_PROGRESS"


def _date(text: str) -> Optional[datetime]:
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
