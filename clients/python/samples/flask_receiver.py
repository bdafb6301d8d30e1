"""A webhook receiver with Flask: pip install flask; flask --app flask_receiver run"""

import os
from typing import Any, Tuple

from flask import Flask, request

from health_interop import WebhookSignatureError
from health_interop.webhooks import parse_event

app = Flask(__name__)
secrets = os.environ["WEBHOOK_SECRET"].split(",")


@app.post("/webhooks")
def receive() -> Tuple[Any, int]:
    """Verify the body as it arrived, before anything parses it."""
    try:
        event = parse_event(request.get_data(), request.headers.get("X-Service-Signature"), secrets)
    except WebhookSignatureError as error:
        return error.reason, 400
    if event["type"] == "consent.revoked":
        print("stop using the data of", event["data"]["health_id"])
    return {"received": True}, 200
