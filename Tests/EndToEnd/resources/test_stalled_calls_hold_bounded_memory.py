"""However many callers read nothing, their calls hold what `limits.memory` allows: the largest end, and others are served."""

import threading

import pytest
from hyperframe.frame import SettingsFrame

from support.http1.recorder import OK
from support.http2 import h2_peer
from support.http2.flooding import flooding
from support.wait import eventually

pytestmark = pytest.mark.alone

MIB = 1 << 20
CALLERS, STREAMS = 10, 50
# Much more than two sockets and the windows of a stream hold.
MUCH = bytes(MIB)
NO = b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n"
WIDE = {SettingsFrame.INITIAL_WINDOW_SIZE: 1 << 30}


@pytest.fixture
def upstream(h2_recorder):
    return flooding(h2_recorder)


@pytest.fixture
def narrow(martlet, tmp_path):
    """Starts Martlet on a Unix socket, which buffers little of what nobody reads."""

    def start(upstream, memory="2MiB", chain="metrics"):
        return martlet(
            f"""
            listen: unix:{tmp_path}/martlet
            upstream: {upstream.url}
            limits: {{ memory: {memory} }}
            workers: 1
            interceptors: [ {chain} ]
            """
        )

    return start


class Shortage:
    """What Martlet reports about its memory while callers hold it."""

    def __init__(self, proxy, limit=2 * MIB):
        self.proxy, self.limit = proxy, limit
        self.callers = []

    @property
    def held(self):
        return self.proxy.metrics().total("martlet_held_memory_bytes")

    @property
    def hits(self):
        return self.proxy.metrics().total("martlet_limit_hits_total", limit="memory")

    def calls(self, **options):
        self.callers.append(self.proxy.connect_h2(**options))
        return self.callers[-1]

    def connect(self):
        self.callers.append(self.proxy.connect(timeout=10.0))
        return self.callers[-1]

    def ends(self, path="/ok"):
        """Calls end, others are served, and all is released when the callers are gone."""
        eventually(lambda: self.hits > 0, what="calls that end or are rejected")
        eventually(lambda: is_served(self.proxy, path), what="a call that is served")
        # Those that are left may get more meanwhile.
        eventually(lambda: self.held <= self.limit, what="memory within the limit")
        self.proxy.stderr.wait(r" warn limits.memory is reached; ending the largest stalled calls ")
        self.leaves_nothing()

    def leaves_nothing(self):
        for caller in self.callers:
            caller.close()
        eventually(lambda: self.held == 0, what="the memory given back")


def is_served(proxy, path="/ok"):
    """Whether a new call is served; if it is not, that is for the lack of memory."""
    caller = proxy.connect_h2()
    call = caller.finish(caller.open(h2_peer.request(path), end=True))
    caller.close()
    assert (call.status, bytes(call.body)) == (200, b"ok") or call.status == 503 and b"limits.memory" in call.body
    return call.status == 200


@pytest.mark.parametrize("workers", [1, 2])
def test_streams_that_nobody_reads(martlet, upstream, command, workers):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        limits: {{ memory: 8MiB }}
        workers: {workers}
        interceptors: [ metrics ]
        """
    )
    before = proxy.own_memory()
    callers = []
    for _ in range(CALLERS):
        caller = proxy.connect_h2(reading=False, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 0})
        callers.append((caller, [caller.open(h2_peer.request("/flood"), end=True) for _ in range(STREAMS)]))
    metric = lambda name, **labels: proxy.metrics().total(name, **labels)  # noqa: E731
    eventually(lambda: metric("martlet_limit_hits_total", limit="memory") > 0, what="calls that end or are rejected")
    eventually(lambda: metric("martlet_held_memory_bytes") <= 8 * MIB, what="memory within the limit")
    assert proxy.own_memory() < before + 40 * MIB
    proxy.stderr.wait(r" warn limits.memory is reached; ending the largest stalled calls calls=\d+ bytes=\d+ ")

    eventually(lambda: is_served(proxy), what="a call that is served")
    for caller, streams in callers:
        caller.wait(lambda: any(stream.is_over or stream.fields for stream in streams), "the end of a stalled call")
    codes = {stream.reset for _, streams in callers for stream in streams if stream.is_over}
    assert h2_peer.ENHANCE_YOUR_CALM in codes
    assert "memory of calls: " in command("status", "-c", proxy.file).stdout.text
    for caller, _ in callers:
        caller.socket.close()
    eventually(lambda: metric("martlet_held_memory_bytes") == 0, what="the memory given back")


def test_a_request_that_the_upstream_does_not_read(martlet, h2_recorder):
    """It gets an error in the protocol of its caller, since no response has begun."""
    silent = h2_recorder(lambda peer, stream: None, reading=False)
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {silent.url}
        limits: {{ memory: 1MiB }}
        workers: 1
        interceptors: [ metrics ]
        """
    )
    shortage = Shortage(proxy)
    caller = shortage.calls()
    calls = [caller.open([*h2_peer.request("/a.B/C", "POST"), ("content-type", "application/grpc")]) for _ in range(16)]
    for call in calls:
        caller.data(call.id, bytes(65535))
    caller.wait(lambda: any(call.is_over for call in calls), "the end of a stalled call")
    (over, *_) = [call for call in calls if call.is_over]
    assert over.values("grpc-status") == [b"8"] and b"limits.memory" in over.values("grpc-message")[0]
    eventually(lambda: shortage.held <= MIB, what="memory within the limit")
    shortage.leaves_nothing()


def test_callers_that_open_all_windows_and_read_nothing(narrow, upstream):
    shortage = Shortage(narrow(upstream))
    for _ in range(2):
        caller = shortage.calls(reading=False, settings=WIDE)
        caller.grant(1 << 30)
        for _ in range(STREAMS):
            caller.open(h2_peer.request("/flood"), end=True)
    shortage.ends()


def test_responses_that_have_ended_and_nobody_reads(narrow, h2_recorder):
    """No call is left to end, but connections are."""

    def response(peer, stream):
        peer.headers(stream.id, h2_peer.response())
        peer.data(stream.id, b"ok" if stream.path == "/ok" else bytes(288 << 10), end=True)

    # A quarter is for the connections themselves.
    shortage = Shortage(narrow(h2_recorder(response, settings=WIDE), memory="5MiB"), limit=5 * MIB)
    for _ in range(40):
        caller = shortage.calls(reading=False, settings=WIDE)
        caller.grant(1 << 30)
        caller.open(h2_peer.request("/large"), end=True)
    shortage.ends()


def test_callers_of_http_1_that_read_nothing(narrow, recorder):
    def response(request):
        body = b"ok" if request.target == "/ok" else MUCH
        return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body

    shortage = Shortage(narrow(recorder(response)))
    for _ in range(40):
        shortage.connect().send(b"GET /large HTTP/1.1\r\nhost: a.example\r\n\r\n")
    shortage.ends()


@pytest.mark.parametrize("kind", ["application/grpc", "application/json"])
def test_messages_that_stop_half_way(narrow, h2_recorder, kind):
    """They are held for an interceptor that needs them whole."""

    def response(peer, stream):
        if stream.path == "/ok":
            peer.headers(stream.id, h2_peer.response())
            peer.data(stream.id, b"ok", end=True)

    proxy = narrow(h2_recorder(response), chain="metrics, { limit: { message: 4MiB } }")
    shortage = Shortage(proxy)
    for _ in range(2):
        caller = shortage.calls()
        calls = [caller.open([*h2_peer.request("/a.B/C", "POST"), ("content-type", kind)]) for _ in range(20)]
        for call in calls:
            caller.data(call.id, b"\0\0\x10\0\0" + bytes(60_000))
    shortage.ends()


class Uploads:
    """HTTP/1.1 callers that send as much as Martlet reads."""

    def __init__(self, shortage, count):
        self.peers = [shortage.connect() for _ in range(count)]
        for peer in self.peers:
            peer.send(b"POST /large HTTP/1.1\r\nhost: a.example\r\ncontent-length: 100000000\r\n\r\n")
            peer.socket.setblocking(False)

    def resume(self):
        for peer in self.peers:
            try:
                peer.socket.send(MUCH)
            except (BlockingIOError, ConnectionError):
                pass


@pytest.mark.parametrize("version", [1, 2])
def test_uploads_that_the_upstream_does_not_read(narrow, recorder, h2_recorder, tmp_path, version):
    """Those of HTTP/1.1 have a connection each; those of HTTP/2 share one, on which RST_STREAM has to wait."""
    over = threading.Event()

    def script(peer):
        # Small requests get a response on a separate connection; of the others the peer reads nothing.
        request = peer.head()
        if request.startswith(b"GET /ok "):
            peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        else:
            over.wait(30)

    def script_h2(peer):
        peer.wait(lambda: peer.settings_are_known, "the settings")
        over.wait(30)

    path = tmp_path / "upstream"
    silent = recorder(script=script, path=path) if version == 1 else h2_recorder(script=script_h2, path=path, settings=WIDE)
    shortage = Shortage(narrow(silent))
    try:
        uploads = Uploads(shortage, 40)

        def is_short():
            uploads.resume()
            return shortage.hits > 0

        eventually(is_short, what="calls that end or are rejected")
        eventually(lambda: shortage.held <= 2 * MIB - MIB // 4, what="memory within the limit")
        if version == 1:
            eventually(lambda: is_served(shortage.proxy), what="a call that is served")
    finally:
        over.set()
    shortage.leaves_nothing()


def test_a_limit_that_is_lowered_below_what_is_held(narrow, upstream):
    """Nothing else happens from which Martlet could learn it."""
    proxy = narrow(upstream, memory="64MiB")
    shortage = Shortage(proxy, limit=MIB)
    caller = shortage.calls(reading=False, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 0})
    for _ in range(STREAMS):
        caller.open(h2_peer.request("/flood"), end=True)
    eventually(lambda: shortage.held > 3 * MIB, what="streams that wait")
    proxy.reload(proxy.file.read_text().replace("memory: 64MiB", "memory: 1MiB"))
    shortage.ends()


def test_a_call_that_waits_for_a_token_is_not_stalled(martlet, tmp_path, upstream, recorder):
    """Though it holds more than each of those that are, and has waited as long."""
    response = threading.Event()
    token = b'{"access_token":"t","token_type":"Bearer","expires_in":600}'

    def script(peer):
        peer.request()
        response.wait(30)
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(token)
        peer.send(head + token)

    source = f"token_url: {recorder(script=script).url}/token, client_id: me, client_secret: {{ value: secret }}"
    proxy = martlet(
        f"""
        listen: unix:{tmp_path}/martlet
        upstream: {upstream.url}
        limits: {{ memory: 2MiB }}
        workers: 1
        interceptors:
          - metrics
          - token: {{ oauth2: {{ {source} }} }}
            when: {{ path: /ok }}
        """
    )
    shortage = Shortage(proxy)
    waiting = shortage.calls()
    call = waiting.open(h2_peer.request("/ok", "POST"))
    waiting.data(call.id, bytes(200_000))
    flood = shortage.calls(reading=False, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 0})
    for _ in range(STREAMS):
        flood.open(h2_peer.request("/flood"), end=True)
    eventually(lambda: shortage.hits > 0, what="calls that end or are rejected")
    eventually(lambda: shortage.held <= 2 * MIB, what="memory within the limit")
    response.set()
    waiting.data(call.id, end=True)
    assert (waiting.finish(call).status, bytes(call.body)) == (200, b"ok")
    shortage.leaves_nothing()


def test_a_response_that_begins_before_its_request_has_ended(narrow, h2_recorder):
    """What has arrived is held for an interceptor that needs all of it."""

    def response(peer, stream):
        if stream.path == "/part":
            peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/json")))
            peer.data(stream.id, b'{"code": 0, "text": "' + bytes(63_000))
        else:
            peer.headers(stream.id, h2_peer.response())
            peer.data(stream.id, b"ok" if stream.path == "/ok" else bytes(60_000), end=True)

    rule = "{ when: { status: 200, json: { /code: 5 } }, fail: { code: aborted } }"
    shortage = Shortage(narrow(h2_recorder(response), chain=f"metrics, {{ validate: {{ rules: [ {rule} ] }} }}"))
    shortage.calls().open(h2_peer.request("/part", "POST"))
    eventually(lambda: shortage.held > 60_000, what="a part of a response")
    flood = shortage.calls(reading=False, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 0})
    for _ in range(STREAMS):
        flood.open(h2_peer.request("/flood"), end=True)
    shortage.ends()


def test_callers_that_send_a_byte_now_and_then(narrow, recorder):
    """They are never stalled, and hold a little more than may be held: after two seconds the largest end all the same."""
    shortage = Shortage(narrow(recorder(), chain="metrics, { limit: { message: 4MiB } }"))
    fields = b"host: a.example\r\ncontent-type: application/json\r\ncontent-length: 3000000\r\n\r\n"
    peers = [shortage.connect() for _ in range(31)]
    for peer in peers:
        peer.send(b"POST /a.B/C HTTP/1.1\r\n" + fields)
    for peer in peers:
        peer.send(bytes(60_000))

    def is_relieved():
        for peer in peers:
            try:
                peer.socket.send(b"x")
            except ConnectionError:
                pass
        return shortage.proxy.stderr.matches("ending the largest stalled calls")

    eventually(is_relieved, what="calls that end", within=10.0)
    shortage.ends()


def test_files_that_are_sent_before_retries(martlet, tmp_path, recorder):
    """Their server reads nothing; a call beyond the limit gets an error at once."""
    over = threading.Event()

    def script(peer):
        peer.head()
        over.wait(30)

    upstream = recorder(lambda request: NO if request.target == "/needs" else OK)
    (tmp_path / "file").write_bytes(bytes(8 * MIB))
    proxy = martlet(
        f"""
        listen: unix:{tmp_path}/martlet
        upstreams: {{ default: {{ url: "{upstream.url}", retry_budget: {{ ratio: 1, min_per_second: 1000 }} }} }}
        limits: {{ memory: 16MiB }}
        workers: 1
        calls:
          login:
            url: {recorder(script=script).url}/login
            method: POST
            headers: {{ x-id: "{{header:x-id}}" }}
            body: {{ file: {tmp_path}/file }}
        interceptors:
          - metrics
          - validate: {{ rules: [ {{ when: {{ status: 401 }}, retry: {{ after: login }} }} ], max_retries: 1 }}
        """
    )
    before = proxy.own_memory()
    shortage = Shortage(proxy, limit=16 * MIB)
    try:
        for number in range(20):
            shortage.connect().send(b"GET /needs HTTP/1.1\r\nhost: a.example\r\nx-id: %d\r\n\r\n" % number)
        eventually(lambda: shortage.hits > 0, what="calls that end or are rejected")
        assert proxy.own_memory() < before + 80 * MIB
        eventually(lambda: is_served(proxy), what="a call that is served")
        assert shortage.held <= shortage.limit
        shortage.leaves_nothing()
    finally:
        over.set()
