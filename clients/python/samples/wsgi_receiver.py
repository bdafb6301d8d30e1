"""A webhook receiver without dependencies: WEBHOOK_SECRET=whsec_… python wsgi_receiver.py 9000, or any WSGI server."""

import os
import sys
from typing import Any, Callable, Dict, Iterable
from wsgiref.simple_server import make_server

from health_interop import WebhookSignatureError
from health_interop.webhooks import parse_event

secrets = os.environ["WEBHOOK_SECRET"].split(",")


def app(environ: Dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Verify the body as it arrived, before anything parses it."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    try:
        event = parse_event(body, environ.get("HTTP_X_SERVICE_SIGNATURE"), secrets)
    except WebhookSignatureError as error:
        start_response("400 Bad Request", [("Content-Type", "text/plain")])
        return [error.reason.encode()]
    print(event["type"], event["id"], flush=True)
    start_response("200 OK", [("Content-Type", "application/json")])
    return [b'{"received":true}']


if __name__ == "__main__":
    with make_server("127.0.0.1", int(sys.argv[1]), app) as server:
        server.serve_forever()
