"""Calls through a container's listener on /shared/rpc.sock."""

import httpx


def client(shared, **options):
    transport = httpx.HTTPTransport(uds=str(shared / "rpc.sock"))
    return httpx.Client(base_url="http://localhost", transport=transport, **options)


def say(shared, **options):
    """One RPC in JSON; returns the response."""
    with client(shared, **options) as http:
        return http.post("/shop.v1.OrderService/Get", json={})
