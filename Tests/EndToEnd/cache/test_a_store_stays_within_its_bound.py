"""However much passes through it, a store has at most `bytes`, keys and heads included."""

import subprocess

import pytest
from cache.origin import FRESH, numbered, response
from support.wait import eventually

pytestmark = [pytest.mark.alone, pytest.mark.timeout(180)]

BOUND = 16 << 20
# What the daemon may need beside the store: buffers of connections, pages that the allocator keeps.
SLACK = 8 << 20


def scan(proxy, folder, paths):
    """Calls each path once. Each connection of h2load begins with the first path, so there is one."""
    file = folder / "paths"
    file.write_text("".join(f"{proxy.url}{path}\n" for path in paths))
    count = str(len(paths))
    words = ["h2load", "--h1", "-t1", "-c1", "-m1", "-n", count, "-i", str(file)]
    text = subprocess.run(words, capture_output=True, text=True, timeout=150, check=True).stdout
    assert f"{count} succeeded" in text and f"status codes: {count} 2xx" in text, text


def used(proxy):
    metrics = proxy.metrics()
    return tuple(metrics.total(f"martlet_cache_{name}") for name in ("bytes", "objects", "evictions_total"))


@pytest.mark.parametrize("size, count", [(65536, 16384), (600, 30_000)], ids=["a gibibyte", "many small ones"])
def test_distinct_urls(cached, nginx, tmp_path, size, count):
    upstream = nginx('location / { add_header cache-control "max-age=3600"; try_files /blob =404; }')
    (upstream.directory / "blob").write_bytes(b"x" * size)
    proxy = cached(upstream)
    with proxy.http() as http:
        http.get("/warm")
    proxy.reset_peak_memory()
    before = proxy.own_peak_memory()
    scan(proxy, tmp_path, [f"/{number:x}" for number in range(count)])
    held, objects, evicted = used(proxy)
    assert BOUND / 2 < held <= BOUND
    assert objects + evicted >= count
    assert objects * size < held
    assert proxy.own_peak_memory() - before <= BOUND + SLACK


def test_the_heads_and_keys_count(cached, recorder, tmp_path):
    """Responses without a body, each with 4 KiB of fields and a long path."""
    upstream = recorder(lambda request: response(b"", FRESH, "x-long: " + "x" * 4096))
    proxy = cached(upstream, store={"bytes": "1MiB", "object": "64KiB"})
    scan(proxy, tmp_path, [f"/{number}/{'y' * 1000}" for number in range(2000)])
    held, objects, evicted = used(proxy)
    assert held <= 1 << 20
    assert objects <= (1 << 20) // 5096
    assert evicted >= 2000 - objects


def test_a_scan_leaves_what_is_used_often(cached, recorder, tmp_path):
    upstream = recorder(numbered(FRESH, "x-long: " + "x" * 4096))
    proxy = cached(upstream, store={"bytes": "1MiB", "object": "64KiB"})
    with proxy.http() as http:
        assert {http.get("/often").text for _ in range(10)} == {"1"}
        scan(proxy, tmp_path, [f"/{number}" for number in range(2000)])
        assert http.get("/often").text == "1"


def test_variants_are_bounded_as_well(cached, recorder):
    """One URL with a Vary that never repeats."""
    upstream = recorder(lambda request: response(b"x" * 4096, FRESH, "vary: x-a"))
    proxy = cached(upstream, store={"bytes": "1MiB", "object": "64KiB"})
    with proxy.http() as http:
        for number in range(2000):
            http.get("/", headers={"x-a": str(number)})
    assert used(proxy)[0] <= 1 << 20


def test_what_is_stale_goes_or_can_be_evicted(cached, recorder, tmp_path):
    """Nothing that is stored keeps the new from being stored."""
    upstream = recorder(lambda request: response(b"x" * 4096, "cache-control: max-age=60", "age: 59", 'etag: "a"'))
    proxy = cached(upstream, store={"bytes": "1MiB", "object": "64KiB"})
    scan(proxy, tmp_path, [f"/{number}" for number in range(1000)])
    upstream.response = lambda request: response(b"new", FRESH)
    with proxy.http() as http:
        count = len(upstream.requests)
        assert [http.get("/new").text for _ in range(3)] == ["new"] * 3
        assert len(upstream.requests) == count + 1


def test_an_eviction_while_it_is_read_cuts_nothing_short(cached, recorder, tmp_path):
    """A caller that stalls in the middle of a hit gets the rest of it after it was evicted."""
    body = bytes(number % 251 for number in range(900_000))
    upstream = recorder(lambda request: response(body if request.target == "/large" else b"x" * 60000, FRESH))
    proxy = cached(upstream, store={"bytes": "2MiB", "object": "1MiB"})
    with proxy.http() as http:
        assert http.get("/large").content == body
    reader = proxy.connect()
    reader.send(f"GET /large HTTP/1.1\r\nhost: {proxy.addresses[0]}\r\n\r\n".encode())
    assert reader.receive(1)
    scan(proxy, tmp_path, [f"/{number}" for number in range(200)])
    eventually(lambda: used(proxy)[2] > 100, what="evictions")
    received = bytearray(reader.received)
    while len(received.partition(b"\r\n\r\n")[2]) < len(body) and (more := reader.receive()):
        received += more
    assert received.partition(b"\r\n\r\n")[2] == body
