"""The operational log says once, not for every call, why an upstream cannot be reached and which caller exceeded a limit."""

import re

from hyperframe.frame import PingFrame

from support.wait import eventually


def test_a_wrong_authority(martlet, recorder, authority):
    upstream = recorder(tls=authority().issue().server())
    other = authority("other")
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          shop: {{ url: "{upstream.url}", tls: {{ ca: {other.file} }} }}
        """
    )
    with proxy.http() as http:
        for _ in range(5):
            assert http.get("/").status_code == 503
    lines = re.findall(r".* warn cannot connect to upstream .*", proxy.stderr.text)
    assert len(lines) == 1
    assert "upstream=shop" in lines[0] and "the certificate is not trusted" in lines[0]


def test_a_caller_beyond_a_limit(martlet, recorder):
    proxy = martlet(upstream=recorder().url)
    caller = proxy.connect_h2()
    caller.write(b"".join(PingFrame(0, b"12345678").serialize() for _ in range(1200)))
    eventually(lambda: "caller exceeded an HTTP/2 limit" in proxy.stderr.text)
    line = re.search(r".*caller exceeded an HTTP/2 limit.*", proxy.stderr.text)[0]
    assert "limit=ping" in line and "peer=127.0.0.1:" in line
