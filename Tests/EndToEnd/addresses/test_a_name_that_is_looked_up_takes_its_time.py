"""The log of a call shows how long the name of its upstream was looked up."""

import json

from support.http1.recorder import OK
from support.wait import eventually


def test_the_name_of_a_new_connection(martlet, recorder, names, tmp_path):
    def close(peer):
        peer.request()
        peer.send(OK.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))

    upstream, log = recorder(script=close), tmp_path / "access.log"
    names.addresses("shop.example", "127.0.0.1", ttl=60)
    proxy = martlet(
        f"""
        workers: 1
        listen: 127.0.0.1:0
        upstream: http://shop.example:{upstream.port}
        interceptors: [ {{ log: {{ to: {log} }} }} ]
        """,
        **names.options,
    )
    with proxy.http() as http:
        for _ in range(2):
            assert http.get("/").status_code == 200
    lines = eventually(lambda: log.exists() and len(found := log.read_text().splitlines()) == 2 and found)
    first, second = (json.loads(line)["stages"] for line in lines)
    assert 0 < first["dns_ms"] < first["connect_ms"]
    # The name is known for a minute; the connection is new.
    assert "dns_ms" not in second and second["tcp_ms"] > 0
