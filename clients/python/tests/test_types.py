"""Type checkers accept the library. They start when this file is read, and work while the other tests run."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import List, Optional

from .readme import pieces

_PYTHON = Path(__file__).parents[1]
_COMMANDS = {"mypy": ["--strict"], "pyright": ["--pythonpath", sys.executable]}
_MISSING = [name for name in (*_COMMANDS, "fastapi", "flask", "httpx") if importlib.util.find_spec(name) is None]


def _start(name: str) -> "Optional[subprocess.Popen[str]]":
    if _MISSING:
        return None
    command: List[str] = [sys.executable, "-m", name, *_COMMANDS[name]]
    return subprocess.Popen(command, cwd=_PYTHON, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


_STARTED = {name: _start(name) for name in _COMMANDS}


@unittest.skipIf(bool(_MISSING), f"not installed: {', '.join(_MISSING)}")
class Types(unittest.TestCase):
    def check(self, name: str) -> None:
        started = _STARTED[name]
        assert started is not None
        output, _ = started.communicate()
        self.assertEqual(started.returncode, 0, output)

    def test_mypy(self) -> None:
        """mypy --strict accepts the library, the samples and their use, and refuses misuse"""
        self.check("mypy")

    def test_readme(self) -> None:
        """mypy accepts the pieces of the README"""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "readme_pieces.py"
            file.write_text("\n".join(piece.lstrip("\n") for piece in pieces()), "utf-8")
            command = [sys.executable, "-m", "mypy", "--no-strict-optional", str(file)]
            result = subprocess.run(command, cwd=_PYTHON, capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, result.stdout)

    def test_pyright(self) -> None:
        """pyright accepts the library, the samples and their use"""
        self.check("pyright")
