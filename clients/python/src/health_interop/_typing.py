"""Names of typing that old versions of Python lack. Type checkers see the real ones."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Dict, Optional

if TYPE_CHECKING:
    from typing_extensions import NotRequired, Unpack
elif sys.version_info >= (3, 11):
    from typing import NotRequired, Unpack
else:
    NotRequired = Optional
    Unpack = Dict

__all__ = ["NotRequired", "Unpack"]
