"""When `first_byte` or `call` expires, the call ends as deadline_exceeded and the upstream connection is closed."""

import itertools

import pytest

from support import protocol
from support.wait import eventually


def at_any_time(message):
    """The message with each way in which less than a second may have been spent, if it says one; the likely ones first."""
    what, says_where, _ = message.partition(": 0.")
    if not says_where:
        yield message
        return
    times = [f"0.{milliseconds:03} s" for milliseconds in range(1, 1000)]
    connecting = [f"{time} waiting for a connection to default" for time in times]
    waiting = [f"{time} in an attempt on default" for time in times]
    both = (f"{one}, {other}" for one, other in itertools.product(connecting, waiting))
    for where in itertools.chain(waiting, connecting, both):
        yield f"{what}: {where}"


@pytest.mark.parametrize("limit", ["first_byte", "call"])
def test_nothing_comes(martlet, recorder, limit):
    ended = []
    upstream = recorder(script=lambda peer: (peer.request(), ended.append(peer.has_ended())))
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          default: {{ url: "{upstream.url}", timeouts: {{ {limit}: 50ms }} }}
        """
    )
    with proxy.http() as http:
        message = protocol.PLAIN.call(http).json()["message"]
        assert message
        for caller in protocol.ALL:
            response = caller.call(http)
            assert (response.status_code, response.headers["content-type"]) == (caller.status(504), caller.response_type)
            expected = (caller.error("deadline_exceeded", 4, text) for text in at_any_time(message))
            assert response.content in expected, response.content
    eventually(lambda: len(ended) == len(protocol.ALL) + 1, what="the end of each upstream connection")
    assert all(ended) and len(upstream.connections) == len(ended)
    assert proxy.metrics().total("martlet_upstream_attempts_total", result="timeout") == len(protocol.ALL) + 1


def test_a_body_that_stops(martlet, recorder):
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart"
    upstream = recorder(script=lambda peer: (peer.request(), peer.send(head), peer.rest()))
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          default: {{ url: "{upstream.url}", timeouts: {{ first_byte: 10s, call: 300ms }} }}
        interceptors: [ log: {{}} ]
        """
    )
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    caller.head()
    assert caller.rest() == b"part"
    assert proxy.stdout.wait('"code":"deadline_exceeded"')
