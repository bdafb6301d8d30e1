"""Makes the calls of docs/sdk.md: CALLS is a list of code and of the address of a server for each."""

from __future__ import annotations

import json
import os

from health_interop import ServiceClient


def main() -> None:
    """Evaluate each call with a client of its own."""
    for call in json.loads(os.environ["CALLS"]):
        with ServiceClient("id", "secret", environment="local", base_url=call["url"]) as client:
            eval(call["code"], {"client": client, "HEALTH_ID": os.environ["HEALTH_ID"]})


if __name__ == "__main__":
    main()
