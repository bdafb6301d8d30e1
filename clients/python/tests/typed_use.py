"""Uses of the library that type checkers must accept or, where a line says `ignore`, refuse. Never run."""

from typing import Any, AsyncIterator, Dict, Iterator, Literal, Optional, Union

from health_interop import AsyncServiceClient, Request, Response, ServiceClient, ServiceError, response_of
from health_interop.types import PatientSummary, WebhookSubscription
from health_interop.webhooks import parse_event


def accepted(client: ServiceClient) -> None:
    """Replies, requests, iterators and options have their types."""
    resolved = client.health_ids.resolve({"first_name": "Élodie", "last_name": "Ngo", "date_of_birth": "1990-02-03"})
    status: Literal["found", "created", "not_found"] = resolved["status"]
    summary: PatientSummary = client.patients.get_summary(resolved["health_id"], timeout=5, max_retries=0)
    subscriptions: Iterator[WebhookSubscription] = client.webhooks.list_all(limit=50)
    bundle: Dict[str, Any] = client.fhir.conditions(resolved["health_id"], {"clinical-status": "active"})
    info = response_of(summary)
    retries: Optional[int] = info.retries if info else None
    client.webhooks.unsubscribe("whs_1")
    print(status, subscriptions, bundle, retries, client.request("GET", "/api/x", query={"a": [1]}))


def refused(client: ServiceClient) -> None:
    """Misspelt fields, options and values are errors before a program runs."""
    client.health_ids.resolve({"firstname": "Élodie"})  # type: ignore[typeddict-unknown-key]
    client.tokens.introspect(time_out=5)  # type: ignore[call-arg]
    client.records.list("CM-TQYE-6SRK-YQ6S", type="allergies")  # type: ignore[arg-type]
    client.webhooks.subscribe("https://x.example", "lab_result.released", 5)  # type: ignore[arg-type]
    ServiceClient("id", "secret", "local", retries=3)  # type: ignore[call-arg]


def events(body: bytes, header: str) -> str:
    """The type of an event tells the type of its data."""
    event = parse_event(body, header, "whsec_x")
    if event["type"] == "lab_result.released":
        flagged: Optional[bool] = event["data"]["flagged"]
        return event["data"]["test_name"] or "" if flagged else ""
    return event["id"]


async def awaited(client: AsyncServiceClient) -> None:
    """The asynchronous client has the same types."""
    summary: PatientSummary = await client.patients.get_summary("CM-TQYE-6SRK-YQ6S")
    resources: AsyncIterator[Dict[str, Any]] = client.fhir.search_all("Patient", {"name": "Ngo"})
    async for resource in resources:
        print(resource["id"], summary["patient"])


def transport(request: Request) -> Response:
    """A transport of the caller's own."""
    return Response(200, {"x-request-id": request.method}, b"{}")


def errors() -> Optional[float]:
    """An error has its properties."""
    try:
        client = ServiceClient("id", "secret", environment="sandbox", transport=transport, logger=print)
        accepted(client)
    except ServiceError as error:
        return error.retry_after
    return None


class Store:
    """A token cache, with names of its own for its parameters."""

    def get(self, name: str) -> Optional[bytes]:
        """Return what is stored."""

    def set(self, name: str, value: Union[str, bytes], ex: Optional[int] = None) -> bool:
        """Store a value."""
        return True


class AwaitedStore:
    """A token cache for asyncio."""

    async def get(self, key: str) -> Optional[str]:
        """Return what is stored."""

    async def set(self, key: str, value: str, seconds: int) -> None:
        """Store a value."""


def caches() -> None:
    """Either client takes a blocking cache; one that is awaited is for asyncio alone."""
    ServiceClient("id", "secret", "local", token_cache=Store())
    AsyncServiceClient("id", "secret", "local", token_cache=Store())
    AsyncServiceClient("id", "secret", "local", token_cache=AwaitedStore())
    ServiceClient("id", "secret", "local", token_cache=AwaitedStore())  # type: ignore[arg-type]
    ServiceClient("id", "secret", "local", token_cache={})  # type: ignore[arg-type]
