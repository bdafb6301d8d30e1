"""Runs every piece of Python in README.md, in order, against the service that the variables name."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any, Dict, List

_README = Path(__file__).parents[1] / "README.md"


def pieces() -> List[str]:
    """Return the pieces of Python, each after as many empty lines as it has before it."""
    text = _README.read_text("utf-8")
    found = re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return ["\n" * text.count("\n", 0, match.start(1)) + match[1] for match in found]


def main() -> None:
    """Run the pieces in one namespace; say how many ran."""
    names: Dict[str, Any] = {}
    count = 0
    for piece in pieces():
        if "AsyncServiceClient" in piece and importlib.util.find_spec("httpx") is None:
            continue
        exec(compile(piece, str(_README), "exec"), names)
        count += 1
    print(f"{count} pieces ran")


if __name__ == "__main__":
    main()
