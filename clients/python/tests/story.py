"""The story of test/clients/support/story.ts, told by the blocking or, with the argument `async`, the asynchronous client.

Reads the story from STORY and prints what it tells as JSON.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List
from urllib.parse import urlsplit

from health_interop import AsyncServiceClient, ServiceClient, ServiceError

from .support import Runner

_RECEIVER = Path(__file__).parents[1] / "samples" / "wsgi_receiver.py"


class Teller:
    """Calls the methods of one client and notes the outcomes."""

    def __init__(self, story: Dict[str, Any], asynchronous: bool) -> None:
        self.story = story
        self._runner = Runner(asynchronous)
        kind: Any = AsyncServiceClient.create if asynchronous else ServiceClient
        given = {"environment": "local", "base_url": story["baseUrl"]}
        self.client = self._runner.run(kind(story["clientId"], story["clientSecret"], **given))
        self.told: Dict[str, Any] = {}

    def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Return the result of a method, a list where it iterates."""
        target: Any = self.client
        for part in name.split("."):
            target = getattr(target, part)
        return self._runner.run(target(*arguments, **options))

    def refused(self, name: str, *arguments: Any, **options: Any) -> str:
        """Return the error of a method."""
        try:
            self.call(name, *arguments, **options)
        except ServiceError as error:
            return f"{type(error).__name__} {error.error_code}"
        return "no error"

    def close(self) -> None:
        """Close the client."""
        self._runner.close(self.client)


def consents(teller: Teller) -> str:
    """Register a patient, and obtain consent."""
    story, told = teller.story, teller.told
    found = teller.call("health_ids.resolve", story["person"])
    health_id: str = found["health_id"]
    told["resolved"] = found["status"]
    told["resolvedAgain"] = teller.call("health_ids.resolve", story["person"])["status"]
    told["verified"] = teller.call("health_ids.verify", health_id)["status"]
    told["refused"] = teller.refused("patients.get_summary", health_id)
    asked = teller.call("consents.request", health_id, story["purpose"], story["requestedScopes"])
    told["requested"] = asked["status"]
    told["status"] = teller.call("consents.status", health_id)["status"]
    told["granted"] = teller.call("consents.grant", health_id, story["grant"])["status"]
    return health_id


def pushes(teller: Teller, health_id: str) -> None:
    """Push results and an alert, one of them twice."""
    story, told, push = teller.story, teller.told, "records.push_lab_result"
    results = [{"health_id": health_id, **each} for each in story["labResults"]]
    told["pushed"] = [teller.call(push, each)["status"] for each in results]
    told["alert"] = teller.call("records.push_encounter", {"health_id": health_id, **story["encounter"]})["status"]
    ids = [teller.call(push, results[0], idempotency_key=story["key"])["id"] for _ in range(2)]
    told["repeated"], told["replayed"] = ids[0] == ids[1], teller.client.last_response.replayed
    told["reused"] = teller.refused(push, results[1], idempotency_key=story["key"])


def reads(teller: Teller, health_id: str) -> None:
    """Read what was pushed, over pages."""
    told = teller.told
    summary = teller.call("patients.get_summary", health_id)
    told["summary"] = [summary["patient"]["first_name"], len(summary["recent_labs"])]
    bundle = teller.call("fhir.diagnostic_reports", health_id, {"_count": 1})
    told["found"] = sorted(each["code"]["text"] for each in teller.call("fhir.iterate", bundle))
    listed = teller.call("records.list_all", health_id, "lab_results", limit=1)
    told["listed"] = sorted(each["test_name"] for each in listed)


def tell(story: Dict[str, Any], asynchronous: bool) -> Dict[str, Any]:
    """Tell the story."""
    teller = Teller(story, asynchronous)
    told = teller.told
    health_id = consents(teller)
    subscription = teller.call("webhooks.subscribe", story["receiverUrl"], story["events"])
    receiver = start_receiver(story["receiverUrl"], subscription["webhook_secret"])
    try:
        told["subscribed"] = len(teller.call("webhooks.list_all"))
        pushes(teller, health_id)
        reads(teller, health_id)
        told["events"] = received(receiver, 4)
    finally:
        receiver.kill()
        receiver.wait()
    told["revoked"] = teller.call("consents.revoke", health_id)["status"]
    told["refusedAgain"] = teller.refused("patients.get_summary", health_id)
    teller.call("webhooks.unsubscribe", subscription["id"])
    told["unsubscribed"] = len(teller.call("webhooks.list_all"))
    teller.close()
    return told


def start_receiver(url: str, secret: str) -> "subprocess.Popen[str]":
    """Start the sample of a receiver and wait until it listens."""
    port = urlsplit(url).port or 80
    variables = {**os.environ, "WEBHOOK_SECRET": secret}
    command = [sys.executable, str(_RECEIVER), str(port)]
    process = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.01)
    return process


def received(process: "subprocess.Popen[str]", count: int) -> List[str]:
    """Return the types of as many events as the receiver has accepted."""
    assert process.stdout is not None
    return [process.stdout.readline().split(" ")[0] for _ in range(count)]


if __name__ == "__main__":
    print(json.dumps(tell(json.loads(os.environ["STORY"]), "async" in sys.argv), ensure_ascii=False))
