"""Hundreds of signals arrive. Reloads fail no call and leave nothing behind, and no signal disturbs a drain."""

import signal
import threading

import pytest

from support.health import Health
from support.http1.recorder import OK
from support.http2 import h2_peer
from support.wait import eventually, settled

pytestmark = pytest.mark.alone

CONFIGURATION = """
listen: 127.0.0.1:0
upstreams: {{ default: {{ url: "{url}", timeouts: {{ idle: 300ms }} }} }}
drain: {{ min: 0s, max: 30s }}
interceptors:
  - metrics: {{}}
  - headers: {{ request: {{ set: {{ x-generation: "{number}" }} }} }}
"""
STORM = 100


@pytest.fixture
def waiting(h2_recorder):
    """An upstream that begins each response to /wait, and ends it when the test says so."""

    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response())
        if stream.path == "/wait":
            peer.data(stream.id, b"first ")
            assert resume.wait(20)
        peer.data(stream.id, b"ok", end=True)

    resume = threading.Event()
    upstream = h2_recorder(response)
    upstream.resume = resume
    return upstream


def begin(proxy):
    """A call in flight, of whose response the beginning has come."""
    caller = proxy.connect(timeout=20)
    caller.send(b"GET /wait HTTP/1.1\r\nhost: a.example\r\n\r\n")
    while b"first" not in caller.received:
        assert caller.receive()
    return caller


def test_reloads(martlet, recorder, load):
    """Each is waited for, and the file is another one each time."""
    url = recorder(OK).url
    proxy = martlet(CONFIGURATION.format(url=url, number=0))
    calls = load(proxy.address)

    def reload_often(start):
        for number in range(start, start + STORM):
            proxy.reload(CONFIGURATION.format(url=url, number=number))

    reload_often(0)
    warm = proxy.own_memory()
    for start in (STORM, 2 * STORM):
        reload_often(start)
    assert proxy.own_memory() - warm <= 1 << 20
    calls.wait_for_calls(20)
    calls.stop()
    assert calls.failures == []
    metrics = proxy.metrics()
    assert metrics.total("martlet_config_generation") == 3 * STORM + 1
    eventually(lambda: proxy.metrics().total("martlet_config_generations_live") == 1, what="the end of old generations")


def test_reloads_that_nobody_waits_for(martlet, recorder, load):
    """The kernel may join some of them, but the last file counts."""
    upstream = recorder(OK)
    proxy = martlet(CONFIGURATION.format(url=upstream.url, number=0))
    health = Health(proxy)
    calls = load(proxy.address)
    calls.wait_for_calls(10)
    for number in range(1, STORM + 1):
        proxy.write(CONFIGURATION.format(url=upstream.url, number=number))
        proxy.signal(signal.SIGHUP)
    settled(lambda: len(proxy.stderr.matches(r" (reloaded|reload rejected)\b")))
    proxy.reload()
    calls.wait_for_calls(10)
    calls.stop()
    assert calls.failures == []
    assert upstream.requests[-1].header("x-generation") == str(STORM)
    assert proxy.metrics().total("martlet_config_generations_live") == 1
    health.check()


def test_other_signals_do_not_disturb_a_drain(martlet, waiting):
    proxy = martlet(CONFIGURATION.format(url=waiting.url, number=0))
    caller = begin(proxy)
    for _ in range(STORM):
        proxy.signal(signal.SIGHUP)
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining\b")
    for number in range(STORM):
        proxy.signal((signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)[number % 3])
    proxy.stderr.wait(r" state .*draining=true")
    assert proxy.admin("/healthz").status_code == 200
    waiting.resume.set()
    assert b"0\r\n\r\n" in caller.rest()
    assert proxy.exit_code() == 0


@pytest.mark.parametrize("count", [2, STORM])
def test_a_second_signal_ends_at_once(martlet, waiting, count):
    """A second SIGTERM ends calls in an orderly way: callers get an error, and the exit code says that the drain was cut short."""
    proxy = martlet(CONFIGURATION.format(url=waiting.url, number=0))
    caller = begin(proxy)
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining\b")
    for _ in range(count - 1):
        proxy.signal(signal.SIGTERM)
    assert proxy.exit_code(within=5) == 1
    assert proxy.stderr.matches(r" stopped$")
    assert b"0\r\n\r\n" not in caller.rest()
    waiting.resume.set()
