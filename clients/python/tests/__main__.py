"""Runs all tests and writes one line of JSON for each to the file that TEST_REPORT names, for the test runner above.

Usage: python -m tests (in clients/python, with src on PYTHONPATH or the package installed)
"""

from __future__ import annotations

import json
import os
import sys
import unittest
from typing import Any, List


class _Result(unittest.TextTestResult):
    """Keeps an entry for every test."""

    entries: List[Any]

    def startTestRun(self) -> None:
        self.entries = []

    def _add(self, test: unittest.TestCase, status: str, message: str = "") -> None:
        kind = type(test)
        name = test.shortDescription() or test.id()
        self.entries.append({"file": kind.__module__.rsplit(".", 1)[-1], "name": name, "status": status, "message": message})

    def addSuccess(self, test: Any) -> None:
        super().addSuccess(test)
        self._add(test, "passed")

    def addSkip(self, test: Any, reason: str) -> None:
        super().addSkip(test, reason)
        self._add(test, "skipped", reason)

    def addFailure(self, test: Any, err: Any) -> None:
        super().addFailure(test, err)
        self._add(test, "failed", self._exc_info_to_string(err, test))  # type: ignore[attr-defined]

    def addError(self, test: Any, err: Any) -> None:
        super().addError(test, err)
        self._add(test, "failed", self._exc_info_to_string(err, test))  # type: ignore[attr-defined]


def main() -> int:
    """Run the tests; return 0 if all passed."""
    suite = unittest.defaultTestLoader.discover("tests", top_level_dir=".")
    result: Any = unittest.TextTestRunner(resultclass=_Result).run(suite)
    report = os.environ.get("TEST_REPORT")
    if report:
        with open(report, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(entry, ensure_ascii=False) + "\n" for entry in result.entries)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
