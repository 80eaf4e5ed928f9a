"""A large body, one of unknown length, HEAD, 304 and a range arrive as nginx sends them."""

import os
import subprocess

import httpx
import pytest

SERVER = """
    location /chunked/ { alias %s/; gzip on; gzip_min_length 1; gzip_types *; }
    if_modified_since before;
    location /empty { return 204; }
"""
CASES = {
    "64 KiB": ("GET", "/large", {}),
    "chunked": ("GET", "/chunked/large", {"accept-encoding": "gzip"}),
    "HEAD": ("HEAD", "/large", {}),
    "304": ("GET", "/large", {"if-modified-since": "Fri, 31 Dec 2038 00:00:00 GMT"}),
    "range": ("GET", "/large", {"range": "bytes=1000-1999"}),
    "204": ("GET", "/empty", {}),
    "404": ("GET", "/none", {}),
}
# What may differ between two responses: the clock, and what belongs to one connection only.
OF_THE_HOP = {"date", "connection", "keep-alive", "transfer-encoding"}


@pytest.fixture
def both(martlet, nginx, tmp_path):
    upstream = nginx(SERVER % (tmp_path / "nginx"))
    (upstream.directory / "large").write_bytes(os.urandom(64 * 1024))
    return upstream, martlet(upstream=upstream.url)


@pytest.mark.parametrize("case", CASES)
def test_httpx(both, case):
    upstream, proxy = both
    method, path, headers = CASES[case]
    with httpx.Client(trust_env=False, headers={"accept-encoding": "identity"} | headers) as client:
        direct, through = (client.request(method, base + path) for base in (upstream.url, proxy.url))
    assert through.status_code == direct.status_code
    assert through.content == direct.content
    fields = [
        sorted(field for field in response.headers.multi_items() if field[0] not in OF_THE_HOP)
        for response in (direct, through)
    ]
    assert fields[1] == fields[0]
    assert ("transfer-encoding" in through.headers) == ("transfer-encoding" in direct.headers)


def test_curl(both):
    upstream, proxy = both
    body = subprocess.check_output(["curl", "-sS", "--noproxy", "*", proxy.url + "/large"], timeout=10)
    assert body == (upstream.directory / "large").read_bytes()
