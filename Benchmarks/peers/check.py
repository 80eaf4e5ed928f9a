"""One call before the clock runs: the proxy does all that it should, and the backend would see it if it did not."""

import http.client
import socket

import h2.config
import h2.connection
import h2.events

from peers import AUTHORIZATION
from process import Failed
from stage import JSON, REQUESTS


def call_http1(case, port, fields):
    """(status, fields, body, trailers)"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    request = ("GET", case.path, None, fields) if case.cached else ("POST", case.path, JSON, {"content-type": "application/json", **fields})
    try:
        connection.request(*request)
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read(), {}
    finally:
        connection.close()


def call_grpc(case, port, fields):
    """The same in gRPC, or in what becomes that."""
    head, trailers, body = {}, {}, b""
    peer = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
    peer.initiate_connection()
    kind, more, request = REQUESTS[case.speaks]
    fields = {"content-type": kind, **more, **fields}
    names = {":method": "POST", ":scheme": "http", ":path": case.path, ":authority": "bench", **fields}
    peer.send_headers(1, list(names.items()))
    peer.send_data(1, request, end_stream=True)
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        while True:
            connection.sendall(peer.data_to_send())
            received = connection.recv(65536)
            if not received:
                raise Failed("check: the connection was closed")
            for event in peer.receive_data(received):
                if isinstance(event, h2.events.ResponseReceived):
                    head = dict(event.headers)
                elif isinstance(event, h2.events.DataReceived):
                    body += event.data
                    peer.acknowledge_received_data(event.flow_controlled_length, 1)
                elif isinstance(event, h2.events.TrailersReceived):
                    trailers = dict(event.headers)
                elif isinstance(event, (h2.events.StreamReset, h2.events.ConnectionTerminated)):
                    raise Failed(f"check: {event}")
                elif isinstance(event, h2.events.StreamEnded):
                    return int(head[":status"]), head, body, trailers


def call(case, port, fields):
    try:
        return (call_grpc if case.grpc else call_http1)(case, port, fields)
    except (OSError, http.client.HTTPException) as error:
        raise Failed(f"check: {error!r}") from None


def check_backend(case, port):
    """It responds to nobody whose proxy has not done its work."""
    for fields, wanted in (({}, 401), ({"x-internal": "1", "authorization": AUTHORIZATION}, 403), ({"authorization": AUTHORIZATION}, 200)):
        status = call(case, port, fields)[0]
        if status != wanted:
            raise Failed(f"the backend answered {status} to {fields}, not {wanted}")


def check_proxy(case, port, fields, served_by=None):
    """Raises `Failed` with what is wrong."""
    status, head, body, trailers = call(case, port, fields)
    if status != 200:
        raise Failed(f"check: status {status} (401: no token, 403: x-internal came through)")
    if served_by and head.get("x-served-by") != served_by:
        raise Failed(f"check: x-served-by is {head.get('x-served-by')!r}")
    if case.speaks:
        if b"m" * 38 not in body or not head["content-type"].startswith(REQUESTS[case.speaks][0]):
            raise Failed(f"check: not translated: {head['content-type']}, {body}")
        return
    if len(body) != case.size + 5 * case.grpc:
        raise Failed(f"check: {len(body)} bytes")
    if case.grpc and trailers.get("grpc-status") != "0":
        raise Failed(f"check: trailers {trailers}")
    # The backend gives each of its responses a number of its own.
    if case.cached and call(case, port, fields)[1]["x-number"] != head["x-number"]:
        raise Failed("check: the second call is no hit")
