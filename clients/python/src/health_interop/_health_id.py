"""Health IDs: CC-XXXX-XXXX-XXXX, a country, ten random symbols and two check symbols over GF(32)."""

from __future__ import annotations

import re
from typing import List

from .errors import ValidationError

_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_FOLDED = re.compile(r"[A-Z]{2}[0-9A-HJKMNP-TV-Z]{12}")
_CANONICAL = re.compile(r"[A-Z]{2}(?:-[0-9A-HJKMNP-TV-Z]{4}){3}")
# White space, the dashes of Unicode (category Pd), soft hyphen, minus sign and zero width space.
_SEPARATORS = re.compile(
    r"[\s\ufeff\u002d\u00ad\u058a\u05be\u1400\u1806\u2010-\u2015\u200b\u2212\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d"
    r"\u301c\u3030\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d\U00010ead]"
)
_LOWER_TO_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_BODY = str.maketrans("OIL", "011")
_LONGEST = 100


def _powers() -> List[int]:
    """Return the powers of x modulo x^5 + x^2 + 1, twice round."""
    powers, value = [], 1
    for _ in range(62):
        powers.append(value)
        value = ((value << 1) & 31) ^ 5 if value & 16 else value << 1
    return powers


_POWERS = _powers()
_LOGS = {value: power for power, value in enumerate(_POWERS[:31])}
_VALUES = {symbol: value for value, symbol in enumerate(_SYMBOLS)}


def normalize(text: str) -> str:
    """Return the canonical form of a Health ID, such as ``CM-TQYE-6SRK-YQ6S``.

    Spaces, dashes and case do not matter; in the symbols after the country, O is read as 0, I and L as 1.
    Nothing is corrected: a wrong symbol raises :class:`ValidationError` with ``error_code`` ``INVALID_HEALTH_ID``.
    """
    folded = _fold(text) if isinstance(text, str) and len(text) <= _LONGEST else ""
    if not _FOLDED.fullmatch(folded) or not _checks(folded):
        raise ValidationError(
            "The text is not a valid Health ID. Check it against the card; it looks like CM-TQYE-6SRK-YQ6S.",
            error_code="INVALID_HEALTH_ID",
        )
    return "-".join((folded[:2], folded[2:6], folded[6:10], folded[10:]))


def is_health_id(text: str) -> bool:
    """Return whether a text has the form of a Health ID, right or wrong check symbols alike."""
    return len(text) <= _LONGEST and _FOLDED.fullmatch(_fold(text)) is not None


def _fold(text: str) -> str:
    bare = text if _CANONICAL.fullmatch(text) is None else text.replace("-", "")
    bare = _SEPARATORS.sub("", bare).translate(_LOWER_TO_UPPER)
    return bare[:2] + bare[2:].translate(_BODY)


def _checks(folded: str) -> bool:
    """Return whether the sums of value times x^place and of value times x^(2 place) are both zero."""
    values = [ord(letter) - 64 for letter in folded[:2]] + [_VALUES[symbol] for symbol in folded[2:]]
    first = second = 0
    for place, value in enumerate(values):
        if value:
            log = _LOGS[value]
            first ^= _POWERS[(log + place) % 31]
            second ^= _POWERS[(log + 2 * place) % 31]
    return first == 0 and second == 0
