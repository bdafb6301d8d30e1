"""A webhook receiver with FastAPI: pip install fastapi uvicorn; uvicorn fastapi_receiver:app"""

import os

from fastapi import FastAPI, Request, Response

from health_interop import WebhookSignatureError
from health_interop.webhooks import parse_event

app = FastAPI()
secrets = os.environ["WEBHOOK_SECRET"].split(",")


@app.post("/webhooks")
async def receive(request: Request) -> Response:
    """Verify the body as it arrived, before anything parses it."""
    try:
        event = parse_event(await request.body(), request.headers.get("x-service-signature"), secrets)
    except WebhookSignatureError as error:
        return Response(error.reason, status_code=400)
    if event["type"] == "consent.revoked":
        print("stop using the data of", event["data"]["health_id"])
    return Response('{"received":true}', media_type="application/json")
