"""A body that ends with its connection is complete only after `close_notify`, which nobody who cuts the connection can fake."""

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


def fetch(martlet, recorder, authority, end):
    ours = authority()

    def script(peer):
        peer.request()
        peer.send(HEAD + b"half of it")
        end(peer)

    upstream = recorder(script=script, tls=ours.issue().server())
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          shop: {{ url: "{upstream.url}", tls: {{ ca: {ours.file} }} }}
        """
    )
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    return caller.rest if end is cut else lambda: caller.response().body, caller


def cut(peer):
    peer.socket.close()


def say_and_close(peer):
    peer.socket = peer.socket.unwrap()


def test_with_close_notify(martlet, recorder, authority):
    read, _ = fetch(martlet, recorder, authority, say_and_close)
    assert read() == b"half of it"


def test_without_close_notify(martlet, recorder, authority):
    read, caller = fetch(martlet, recorder, authority, cut)
    received = read()
    assert b"half of it" in received
    assert not received.endswith(b"\r\n0\r\n\r\n")


def test_a_body_of_known_length_needs_no_close_notify(martlet, recorder, authority):
    ours = authority()

    def script(peer):
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody")
        cut(peer)

    upstream = recorder(script=script, tls=ours.issue().server())
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          shop: {{ url: "{upstream.url}", tls: {{ ca: {ours.file} }} }}
        """
    )
    with proxy.http() as http:
        assert [http.get("/").text for _ in range(3)] == ["body"] * 3
