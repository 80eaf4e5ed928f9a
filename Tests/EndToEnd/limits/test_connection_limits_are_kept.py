"""A listener accepts as many connections as allowed, an upstream gets no more than configured, and both are counted."""

import threading

from support.wait import eventually

REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


def test_connections_of_a_listener(martlet, recorder):
    proxy = martlet(
        f"""
        listeners: [ {{ address: "127.0.0.1:0", limits: {{ connections: 2 }} }} ]
        upstream: {recorder().url}
        workers: 1
        """
    )
    allowed = [proxy.connect() for _ in range(2)]
    for caller in allowed:
        caller.send(REQUEST)
        assert caller.response().status == 200
    rejected = proxy.connect()
    rejected.send(REQUEST)
    assert rejected.response().status == 503
    assert rejected.has_ended()
    assert proxy.metrics().total("martlet_limit_hits_total", limit="connections") == 1
    allowed[0].close()

    def served():
        caller = proxy.connect()
        caller.send(REQUEST)
        return caller.response().status == 200

    eventually(served, what="room for another connection")


def test_connections_to_an_upstream(martlet, recorder):
    resume = threading.Event()

    def script(peer):
        while peer.request():
            resume.wait(30)
            peer.send(OK)

    upstream = recorder(script=script)
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          default: {{ url: "{upstream.url}", limits: {{ connections: 1, waiting: 1 }} }}
        interceptors: [ metrics: {{}} ]
        workers: 1
        """
    )
    first, second, third = (proxy.connect() for _ in range(3))
    first.send(REQUEST)
    upstream.wait_for_connections(1)
    second.send(REQUEST)
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 2, what="the second call waiting")
    third.send(REQUEST)
    response = third.response()
    assert (response.status, b'"resource_exhausted"' in response.body or b'"unavailable"' in response.body) == (503, True)
    resume.set()
    assert [first.response().body, second.response().body] == [b"ok", b"ok"]
    assert len(upstream.connections) == 1
