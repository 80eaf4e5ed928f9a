"""Calls of one HTTP version do not wait for connections that those of the other hold."""

from support.http2 import h2_peer
from support.wait import eventually


def test_an_upstream_of_both_versions(martlet, authority):
    ours = authority()
    identity = ours.issue("localhost")
    server = martlet(
        f"""
        listeners:
          - address: 127.0.0.1:0
            tls: {{ certificate: {identity.certificate}, key: {identity.key} }}
        interceptors:
          - metrics: {{}}
          - when: {{ path: /slow }}
            fault: {{ delay: 1h }}
          - respond: {{ body: here }}
        """
    )
    port = server.address[1]
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          both:
            url: https://localhost:{port}
            tls: {{ ca: {ours.file} }}
            limits: {{ connections: 1 }}
        workers: 1
        """
    )
    slow = proxy.connect()
    slow.send(b"GET /slow HTTP/1.1\r\nhost: a.example\r\n\r\n")
    eventually(lambda: server.metrics().total("martlet_rpc_in_flight") == 1, what="the call of HTTP/1.1")
    caller = proxy.connect_h2()
    call = caller.open(h2_peer.request("/"), end=True)
    assert bytes(caller.finish(call).body) == b"here"
