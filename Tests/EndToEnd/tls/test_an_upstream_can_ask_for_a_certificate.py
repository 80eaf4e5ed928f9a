"""An upstream that requests a client certificate gets ours. Without one the caller gets the reason of the failure."""

from support.wait import eventually


def configuration(upstream, ours, more=""):
    return f"""
    listen: 127.0.0.1:0
    upstreams:
      shop: {{ url: "{upstream.url}", tls: {{ ca: {ours.file}{more} }} }}
    """


def test_shown(martlet, recorder, authority):
    ours, callers = authority(), authority("callers")
    me = callers.issue("me.example")
    seen = []

    def script(peer):
        seen.append(peer.socket.getpeercert()["subjectAltName"])
        peer.request()
        peer.send(b"HTTP/1.1 204 No Content\r\n\r\n")

    upstream = recorder(script=script, tls=ours.issue().server(clients=callers))
    more = f", client_certificate: {me.certificate}, client_key: {me.key}"
    with martlet(configuration(upstream, ours, more)).http() as http:
        assert http.get("/").status_code == 204
    assert seen == [(("DNS", "me.example"),)]


def test_missing(martlet, recorder, authority):
    ours, callers = authority(), authority("callers")
    upstream = recorder(tls=ours.issue().server(clients=callers))
    with martlet(configuration(upstream, ours)).http() as http:
        response = http.get("/")
    assert response.json()["code"] == "unavailable"
    assert response.json()["message"].startswith("upstream shop: ")
    assert upstream.requests == []
    eventually(lambda: len(upstream.handshake_errors) == 1)
