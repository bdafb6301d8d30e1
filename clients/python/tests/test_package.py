"""The package: generated files, types, wheel, samples, imports."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from typing import Any, List

from health_interop import webhooks

_PYTHON = Path(__file__).parents[1]
_SECRET = "whsec_of_the_samples"


def run(*command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a program in the folder of the library."""
    return subprocess.run(command, cwd=_PYTHON, capture_output=True, text=True, env={**os.environ, **variables})


def needs(*modules: str) -> Any:
    """Skip a test where a module is not installed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Generated(unittest.TestCase):
    def test_generated(self) -> None:
        """the generated files are those of the contract and of the API description"""
        result = run(sys.executable, "scripts/generate.py", "--check")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


class Wheel(unittest.TestCase):
    @needs("setuptools", "wheel")
    def test_wheel(self) -> None:
        """the wheel holds the library with its types, needs nothing, and works from the wheel alone"""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "source"
            shutil.copytree(_PYTHON, source, ignore=shutil.ignore_patterns(".venv", "build", "*.egg-info", "tests"))
            pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder]
            built = run(*pip, str(source))
            self.assertEqual(built.returncode, 0, built.stderr)
            (wheel,) = Path(folder).glob("health_interop-*.whl")
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
                (metadata,) = [archive.read(name).decode() for name in names if name.endswith("METADATA")]
            self.assertIn("health_interop/py.typed", names)
            self.assertEqual([name for name in names if not name.startswith("health_interop")], [])
            needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra" not in line]
            self.assertEqual(needed, [])
            script = "import health_interop, health_interop.webhooks as w; print(health_interop.__file__, w.__all__)"
            used = run(sys.executable, "-I", "-c", f"import sys; sys.path[:0] = [{str(wheel)!r}]; {script}")
            self.assertIn(wheel.name, used.stdout, used.stderr)


class Readme(unittest.TestCase):
    def test_links(self) -> None:
        """the README, which the package index shows, links to addresses and to itself alone"""
        targets = re.findall(r"\]\(([^)]+)\)", (_PYTHON / "README.md").read_text("utf-8"))
        self.assertEqual([target for target in targets if not target.startswith(("https:", "#"))], [])


class Imports(unittest.TestCase):
    def test_imports(self) -> None:
        """a program that does not use asyncio does not import it, nor httpx, nor the types"""
        unwanted = ["asyncio", "httpx", "health_interop.types", "health_interop._async_client"]
        script = f"import sys, health_interop; print([name for name in {unwanted} if name in sys.modules])"
        self.assertEqual(run(sys.executable, "-c", script).stdout.strip(), "[]")

    def test_no_httpx(self) -> None:
        """AsyncServiceClient without httpx says how to install it"""
        script = (
            "import sys; sys.modules['httpx'] = None\n"
            "from health_interop import AsyncServiceClient\n"
            "try: AsyncServiceClient('id', 'secret', 'local')\n"
            "except ImportError as error: print(error)"
        )
        self.assertIn("pip install 'health-interop[async]'", run(sys.executable, "-c", script).stdout)

    def test_runtime_types(self) -> None:
        """the types can be read at run time, as frameworks do"""
        script = "import typing, health_interop.types as t; print(sorted(typing.get_type_hints(t.ResolveReply)))"
        self.assertIn("'health_id'", run(sys.executable, "-c", script).stdout)


class Samples(unittest.TestCase):
    def deliveries(self) -> List[Any]:
        """Return bodies, headers and the expected status."""
        good = webhooks.sign_test_payload({"id": "evt_1", "type": "patient.created", "data": {"n": "É"}}, _SECRET)
        old = webhooks.sign_test_payload(good.body, _SECRET, 1)
        return [(good.body, good.header, 200), (good.body + " ", good.header, 400), (old.body, old.header, 400), ("{}", "", 400)]

    def setUp(self) -> None:
        os.environ["WEBHOOK_SECRET"] = f"whsec_the_next_one,{_SECRET}"
        sys.path.insert(0, str(_PYTHON / "samples"))
        self.addCleanup(sys.path.pop, 0)

    @needs("fastapi", "httpx")
    def test_fastapi(self) -> None:
        """the receiver with FastAPI accepts a signed body and refuses changed, old and unsigned ones"""
        import asyncio

        import fastapi_receiver  # type: ignore[import-not-found]
        import httpx

        async def post(body: str, header: str) -> httpx.Response:
            transport = httpx.ASGITransport(app=fastapi_receiver.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
                return await client.post("/webhooks", content=body.encode(), headers={"X-Service-Signature": header})

        for body, header, status in self.deliveries():
            reply = asyncio.run(post(body, header))
            self.assertEqual((reply.status_code, "received" in reply.text), (status, status == 200))

    @needs("flask")
    def test_flask(self) -> None:
        """the receiver with Flask accepts a signed body and refuses changed, old and unsigned ones"""
        import flask_receiver  # type: ignore[import-not-found]

        for body, header, status in self.deliveries():
            client = flask_receiver.app.test_client()
            reply = client.post("/webhooks", data=body.encode(), headers={"X-Service-Signature": header})
            self.assertEqual((reply.status_code, "received" in reply.text), (status, status == 200))
