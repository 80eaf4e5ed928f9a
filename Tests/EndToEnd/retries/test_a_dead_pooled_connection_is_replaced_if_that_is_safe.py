"""A pooled connection dies before its response: a GET is retried on a new connection, a POST that was sent is not."""

from support.http1.recorder import OK
from support.wait import eventually


def dies_on_its_second_request(upstream):
    """The first connection responds once and closes on the next request; later ones respond to all."""

    def script(peer):
        first = peer is upstream.connections[0]
        while request := peer.request():
            upstream.requests.append(request)
            if first and len(upstream.requests) == 2:
                return
            peer.send(OK)

    return script


def start(martlet, recorder):
    upstream = recorder()
    upstream.script = dies_on_its_second_request(upstream)
    return upstream, martlet(upstream=upstream.url, more="workers: 1")


def test_get_is_retried(martlet, recorder):
    upstream, proxy = start(martlet, recorder)
    with proxy.http() as http:
        assert [http.get(f"/{number}").text for number in range(3)] == ["ok"] * 3
    assert [request.target for request in upstream.requests] == ["/0", "/1", "/1", "/2"]
    assert len(upstream.connections) == 2
    assert proxy.metrics().total("martlet_upstream_retries_total", upstream="default") == 1


def test_post_is_not(martlet, recorder):
    upstream, proxy = start(martlet, recorder)
    with proxy.http() as http:
        responses = [http.post(f"/{number}", content=b"pay") for number in range(3)]
    assert [response.status_code == 200 for response in responses] == [True, False, True]
    assert responses[1].json()["code"] == "unavailable"
    assert [request.target for request in upstream.requests] == ["/0", "/1", "/2"]


def test_a_connection_that_closed_while_idle_is_not_used(martlet, recorder):
    def script(peer):
        upstream.requests.append(peer.request())
        peer.send(OK)
        peer.half_close()
        closed.append(peer.has_ended())

    closed = []
    upstream = recorder(script=script)
    proxy = martlet(upstream=upstream.url, more="workers: 1")
    with proxy.http() as http:
        for number in range(3):
            assert http.post("/", content=b"pay").text == "ok"
            eventually(lambda: len(closed) == number + 1, what="that it noticed")
    assert len(upstream.requests) == len(upstream.connections) == 3
