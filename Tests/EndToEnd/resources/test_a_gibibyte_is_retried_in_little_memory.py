"""A body of 1 GiB is retried from its file, byte by byte: the daemon grows by 4 MiB at most, and no other call waits."""

import threading
import time

import pytest

from support.large_body import MIB, BodyServer, Upload, digest

pytestmark = [pytest.mark.alone, pytest.mark.timeout(240)]

GIB = 1 << 30
LIMIT = 4 * MIB
CONFIGURATION = """\
listen: 127.0.0.1:0
workers: 1
upstreams:
  default:
    url: {url}
    limits: {{ spool: {{ to: {directory}, max: 2GiB }} }}
interceptors:
  - when: {{ path: /ping }}
    respond: {{ status: 200 }}
  - validate: {{ max_retries: 1, rules: [ {{ when: {{ status: 503 }}, retry: {{ immediate: {{}}, allow_non_idempotent: true }} }} ] }}
"""


class Canary:
    """Calls one after the other, and how long each took."""

    def __init__(self, proxy):
        self.times = []
        self._proxy = proxy
        self._stops = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        caller = self._proxy.connect(timeout=30)
        while not self._stops.wait(0.005):
            began = time.monotonic()
            caller.send(b"GET /ping HTTP/1.1\r\nhost: a\r\n\r\n")
            assert caller.response().status == 200
            self.times.append(time.monotonic() - began)
        caller.close()

    def stop(self):
        self._stops.set()
        self._thread.join()


@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize("steps", [(503, 200), ((GIB // 2, 503), 200)], ids=["at the end", "in the middle"])
def test_up(martlet, running, tmp_path, steps, http2):
    upstream = running(BodyServer(*steps))
    proxy = martlet(CONFIGURATION.format(url=upstream.url, directory=tmp_path))
    canary = running(Canary(proxy))
    proxy.reset_peak_memory()
    before = proxy.own_peak_memory()
    call = running(Upload(proxy.url + "/up", GIB, http2=http2))
    assert call.result(within=200) == (digest(GIB), 200)
    assert upstream.requests[-1].count == GIB
    canary.stop()
    times = sorted(canary.times)
    print(f"memory {(proxy.own_peak_memory() - before) >> 10} KiB, {len(times)} other calls, of which the slowest took", times[-5:])
    assert proxy.own_peak_memory() - before <= LIMIT
    assert times[len(times) * 99 // 100] < 0.05
