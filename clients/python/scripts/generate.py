"""Write the generated files of the library: types from docs/openapi.json, modules from clients/contract.json.

Usage: python scripts/generate.py           writes the files
       python scripts/generate.py --check   fails if a file differs
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from modules import module_files  # noqa: E402
from types_file import TypesFile  # noqa: E402

_PYTHON = Path(__file__).parents[1]
_ROOT = _PYTHON.parents[1]
PACKAGE = _PYTHON / "src" / "health_interop"


def generated() -> dict[str, str]:
    """Return the text of every generated file, by its path in the package."""
    contract = json.loads((_ROOT / "clients" / "contract.json").read_text("utf-8"))
    description = json.loads((_ROOT / "docs" / "openapi.json").read_text("utf-8"))
    types = TypesFile(description)
    files = module_files(contract, description, types)
    return {**files, "types.py": types.text()}


def main() -> int:
    """Write the files, or compare them."""
    differing = [name for name, text in generated().items() if _read(PACKAGE / name) != text]
    if "--check" in sys.argv:
        print("\n".join(f"{name} differs: run python scripts/generate.py" for name in differing))
        return 1 if differing else 0
    for name, text in generated().items():
        (PACKAGE / name).write_text(text, "utf-8")
    print(f"{len(differing)} files changed")
    return 0


def _read(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None


if __name__ == "__main__":
    raise SystemExit(main())
