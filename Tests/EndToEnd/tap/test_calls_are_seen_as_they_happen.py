"""`/tap` shows calls while they are under way: heads, messages as JSON, and the outcome, in every protocol."""

import json
import re
import tempfile
import threading
from pathlib import Path

import httpx
import pytest
from connectrpc.compression.gzip import GzipCompression
from connectrpc.protocol import ProtocolType
from support import protocol
from support.martlet import CLEAR_TEXT, Command
from support.servers.eliza import Client
from support.servers.eliza_messages import descriptor_set
from support.wait import eventually

SERVICE = "connectrpc.eliza.v1.ElizaService"
WAYS = [(way, version) for way in ProtocolType for version in (1, 2) if way is not ProtocolType.GRPC or version == 2]


@pytest.fixture
def eliza_proxy(martlet, eliza, tmp_path):
    """Martlet before Eliza, with her types, and parts of her messages masked if that is asked for."""
    (tmp_path / "eliza.binpb").write_bytes(descriptor_set())

    def start(chain="", url=eliza.h2c_url):
        return martlet(
            f"listen: 127.0.0.1:0\nupstream: {url}\ntypes: {{ files: {tmp_path}/eliza.binpb }}\ninterceptors: [ {chain} ]"
        )

    return start


@pytest.mark.parametrize("codec", ["json", "proto"])
@pytest.mark.parametrize("way, version", WAYS, ids=str)
def test_messages_in_every_protocol(eliza_proxy, tap, way, version, codec):
    proxy = eliza_proxy()
    seen = tap(proxy, messages="true")
    client = Client(proxy.url, codec, version, protocol=way, accept_compression=[])
    assert client.say("hello ☃") == "Eliza heard hello ☃"
    assert list(client.converse(["a", "b"])) == ["Eliza heard a", "Eliza heard b"]
    seen.until("end", 2)
    for call, requests, responses in (("Say", ["hello ☃"], ["hello ☃"]), ("Converse", ["a", "b"], ["a", "b"])):
        (head,) = seen.of("request", service=SERVICE, method=call)
        events = [event for event in seen.events if event.get("call") == head["call"]]
        shown = {side: [event["json"]["sentence"] for event in events if event.get("direction") == side] for side in ("request", "response")}
        assert shown == {"request": requests, "response": [f"Eliza heard {sentence}" for sentence in responses]}
        assert [events[0]["event"], events[-1]["event"]] == ["request", "end"]
        assert (events[-1]["code"], events[-1]["decided_by"], events[-1]["attempts"]) == ("ok", "upstream", 1)
        assert "stages" in events[-1] and head["headers"]["content-type"].startswith("application/")


def test_messages_that_are_compressed(eliza_proxy, tap):
    proxy = eliza_proxy()
    seen = tap(proxy, messages="true")
    for way, version in WAYS:
        packing = GzipCompression()
        client = Client(proxy.url, "proto", version, protocol=way, send_compression=packing, accept_compression=[packing])
        client.say("hello " * 100)
    found = seen.until("message", 2 * len(WAYS))
    assert {len(event["json"]["sentence"]) for event in found} == {600, 612}


def test_the_message_of_a_connect_get(eliza_proxy, tap):
    proxy = eliza_proxy()
    seen = tap(proxy, messages="true")
    assert Client(proxy.url, "proto", 1).say("hi", use_get=True) == "Eliza heard hi"
    assert [event["json"]["sentence"] for event in seen.until("message", 2)] == ["hi", "Eliza heard hi"]


@pytest.mark.parametrize("way, version", WAYS, ids=str)
def test_what_is_masked_is_never_shown(eliza_proxy, tap, way, version):
    proxy = eliza_proxy("{ redact: { headers: [x-mine], json: [/sentence] } }")
    seen = tap(proxy, messages="true")
    client = Client(proxy.url, "proto", version, protocol=way)
    client.say("geheim", headers={"authorization": "Bearer geheim", "x-mine": "geheim", "x-api-token": "geheim"})
    list(client.converse(["geheim", "geheim"]))
    if way is ProtocolType.CONNECT:
        client.say("geheim", use_get=True)
    seen.until("end", 3 if way is ProtocolType.CONNECT else 2)
    for event in seen.events:
        assert "geheim" not in json.dumps(event)
    assert "geheim" not in json.dumps(seen.events) and "Z2VoZWlt" not in json.dumps(seen.events)
    assert {event["json"]["sentence"] for event in seen.of("message")} == {"***"}
    head = seen.of("request", method="Say")[0]
    assert [head["headers"][name] for name in ("authorization", "x-mine", "x-api-token")] == ["***"] * 3
    for call in {event["call"] for event in seen.events}:
        for view in ("caller", "upstream"):
            for tool in ("curl", "grpcurl", "buf"):
                text = proxy.admin(f"/calls/{call}/curl?view={view}&with={tool}").text
                assert "geheim" not in text and "Z2VoZWlt" not in text and "AAAA" not in text, text


def test_messages_that_cannot_be_looked_into_are_withheld(martlet, recorder, tap):
    proxy = martlet(upstream=recorder().url, more="interceptors: [ { redact: { json: [/card] } } ]")
    seen = tap(proxy, messages="true")
    with proxy.http() as http:
        http.post("/", content=b"card=4111")
    found = seen.until("message", 2)
    assert [(event["withheld"], event["bytes"]) for event in found] == [(True, 9), (True, 2)]


def test_a_stream_is_shown_while_it_is_under_way(eliza_proxy, tap):
    proxy = eliza_proxy()
    seen = tap(proxy, messages="true")
    go_on = threading.Event()

    def sentences():
        yield "one"
        assert go_on.wait(10)
        yield "two"

    responses = Client(proxy.url, "proto", 2, protocol=ProtocolType.GRPC).converse(sentences())
    thread = threading.Thread(target=lambda: list(responses))
    thread.start()
    seen.until("message", 2)
    assert not seen.of("end")
    go_on.set()
    thread.join(10)
    seen.until("end")
    assert [event["number"] for event in seen.of("message", direction="request")] == [1, 2]


@pytest.mark.parametrize("way", protocol.ALL, ids=str)
def test_rejected_calls(martlet, recorder, tap, way):
    proxy = martlet(upstream=recorder().url, more="interceptors: [ { reject: { code: permission_denied, message: no } } ]")
    seen = tap(proxy, messages="true")
    with proxy.http() as http:
        way.call(http)
    (end,) = seen.until("end")
    assert (end["code"], end["message"], end["decided_by"]) == ("permission_denied", "no", "interceptor:reject")


def test_without_messages_there_are_none(eliza_proxy, tap):
    proxy = eliza_proxy()
    seen = tap(proxy)
    Client(proxy.url, "json", 1).say("hi")
    seen.until("end")
    assert [event["event"] for event in seen.events] == ["request", "response", "end"]


@pytest.mark.parametrize(
    "query, wanted",
    [
        ({"service": SERVICE}, ["Say", "Converse"]),
        ({"method": "Say"}, ["Say"]),
        ({"method": ["Say", "Converse"], "service": SERVICE}, ["Say", "Converse"]),
        ({"path": "/plain"}, [None]),
        ({"path": f"/{SERVICE}/"}, ["Say", "Converse"]),
        ({"protocol": "http"}, [None]),
        ({"code": "not_found"}, [None]),
        ({"code": ["ok", "not_found"], "method": "Say"}, ["Say"]),
        ({"http_method": "GET"}, [None]),
        ({"peer": "uid=4294967290"}, []),
    ],
    ids=str,
)
def test_filters(eliza_proxy, tap, query, wanted):
    proxy = eliza_proxy('{ when: { path: /plain }, reject: { code: not_found } }')
    seen, all_calls = tap(proxy, **query), tap(proxy)
    client = Client(proxy.url, "json", 1)
    client.say("hi")
    list(client.converse(["hi"]))
    with proxy.http() as http:
        http.get("/plain")
    all_calls.until("end", 3)
    if wanted:
        seen.until("end", len(wanted))
    assert [event["method"] for event in seen.of("request")] == wanted
    assert len(seen.of("end")) == len(wanted)


@pytest.mark.parametrize(
    "query, error",
    [
        ("code=nope", '"code" cannot be "nope"'),
        ("path=plain", '"path" cannot be "plain"'),
        ("service=", '"service" cannot be ""'),
        ("rate=10", '"10" is not a rate; write a number and /s, /m or /h, for example 100/s'),
        ("bytes=x", '"bytes" cannot be "x"; write a number from 0 to 65536'),
        ("messages=yes", '"yes" is not true or false'),
        ("peer=root", '"peer" cannot be "root"; write uid=1000 or gid=100'),
        ("peer=uid=x", '"uid" cannot be'),
        ("metod=Say", 'unknown parameter "metod"; did you mean'),
    ],
)
def test_a_filter_that_is_not_valid(martlet, recorder, query, error):
    response = martlet(upstream=recorder().url).admin(f"/tap?{query}")
    assert response.status_code == 400 and error in response.text


def test_long_messages_are_cut(martlet, recorder, tap):
    proxy = martlet(upstream=recorder(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n" + b"y" * 100000).url)
    seen = tap(proxy, messages="true", bytes=10)
    with proxy.http() as http:
        http.post("/", content=("☃" * 10).encode())
    request, response = seen.until("message", 2)
    assert (request["text"], request["bytes"], request["cut"]) == ("☃☃☃", 30, True)
    assert (response["text"], response["bytes"], response["cut"]) == ("y" * 10, 100000, True)


def test_the_rate_is_kept_and_calls_are_whole(martlet, recorder, tap):
    proxy = martlet(upstream=recorder().url, more="workers: 1")
    seen = tap(proxy, rate="30/m")
    with proxy.http() as http:
        for _ in range(40):
            http.get("/")
    ids = {event["call"] for event in seen.until("end")}
    assert 1 <= len(ids) <= 12
    for call in ids:
        assert [event["event"] for event in seen.events if event.get("call") == call] == ["request", "response", "end"]


def test_calls_that_the_rate_leaves_out_are_counted(martlet, recorder, tap):
    proxy = martlet(upstream=recorder().url, more="workers: 1")
    seen = tap(proxy, rate="20/s")
    with proxy.http() as http:
        for number in range(3000):
            http.get("/")
            if seen.of("skipped"):
                break
        (skipped, *_) = seen.until("skipped")
        assert 0 < skipped["calls"] <= number


def test_a_tap_over_tcp_must_be_allowed(martlet, recorder):
    configuration = "listen: 127.0.0.1:0\nupstream: {url}\nadmin: [ {{ address: unix:{socket} }}, {{ address: 127.0.0.1:0{more} }} ]"

    def start(more, directory):
        directory.mkdir()
        return martlet(configuration.format(url=recorder().url, socket=directory / "admin.sock", more=more), directory=directory)

    def ask(proxy, path):
        address = re.search(r"listening address=(127\S+) for=admin", proxy.stderr.text)[1]
        with httpx.Client(base_url=f"http://{address}", timeout=5, **CLEAR_TEXT) as client:
            with client.stream("GET", path) as response:
                return response.status_code, response.read().decode() if response.status_code != 200 else ""

    with tempfile.TemporaryDirectory() as directory:
        closed = start("", Path(directory) / "a")
        for path in ("/tap", "/calls/abcdef/curl"):
            status, text = ask(closed, path)
            assert status == 403 and "add tap: true" in text
        open_ = start(", tap: true", Path(directory) / "b")
        assert ask(open_, "/tap") == (200, "")
        status, text = ask(open_, "/calls/abcdef/curl")
        assert status == 404 and "is not kept" in text


def test_a_tap_for_other_machines_is_an_error(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(
        "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\n"
        "admin: { address: 0.0.0.0:0, allow_remote: true, pages: [metrics], tap: true }\n"
    )
    result = command("check", "-c", file)
    assert result.code == 78 and "the tap is only for this machine" in result.stderr.text


def test_a_reload_keeps_the_tap(martlet, recorder, tap):
    proxy = martlet(upstream=recorder().url)
    seen = tap(proxy)
    with proxy.http() as http:
        http.get("/before")
        proxy.reload()
        http.get("/after")
    assert [event["path"] for event in seen.until("request", 2)] == ["/before", "/after"]


def test_a_call_that_is_cancelled(martlet, recorder, tap):
    release = threading.Event()

    def hang(peer):
        peer.request()
        release.wait(10)

    proxy = martlet(upstream=recorder(script=hang).url)
    seen = tap(proxy, messages="true")
    peer = proxy.connect()
    peer.send(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf")
    seen.until("request")
    peer.close()
    (end,) = seen.until("end")
    release.set()
    assert (end["code"], end["decided_by"]) == ("canceled", "caller")
    assert [event["text"] for event in seen.of("message")] == ["half"]


def test_the_command(eliza_proxy, command, running):
    proxy = eliza_proxy()
    shown = running(Command("tap", "-c", proxy.file, "--service", SERVICE, "--messages", "-n", "1"))
    client = Client(proxy.url, "json", 1)

    def is_over():
        client.say("hi \x1b[1m")
        return shown.stdout.matches(r" ok \d")

    eventually(is_over, what="the end of a call")
    assert shown.exit_code() == 0
    lines = shown.stdout.text.splitlines()
    assert re.fullmatch(rf"\d\d:\d\d:\d\d\.\d{{3}} [0-9a-f]{{6}} → connect_unary {SERVICE}/Say  127.0.0.1:\d+ → default", lines[0])
    assert '→ {"sentence":"hi \\u001b[1m"}' in lines[1] and "\x1b" not in shown.stdout.text
    assert re.search(r" ok [\d.]+ ms  chain [\d.]+, connect [\d.]+, first byte [\d.]+, attempts 1$", lines[-1])


def test_wrong_use_of_the_command(martlet, recorder, command):
    proxy = martlet(upstream=recorder().url)
    for arguments, code, error in [
        (["-n", "0"], 2, "-n cannot be 0"),
        (["-o", "xml"], 2, '--output cannot be "xml"; write text, json, curl, grpcurl or buf'),
        (["--code", "nope"], 2, 'unknown code "nope"'),
        (["--code", "unavailble"], 2, 'unknown code "unavailble"; did you mean unavailable?'),
        (["--peer", "me"], 1, "write uid=1000 or gid=100"),
    ]:
        result = command("tap", "-c", proxy.file, *arguments)
        assert result.code == code and error in result.stderr.text, result.stderr.text


def test_details_and_urls_are_masked_too(martlet, recorder, tap):
    error = b'{"code":"aborted","message":"m","details":[{"type":"a.B","value":"Z2VoZWlt"}]}'
    head = b"HTTP/1.1 409 No\r\ncontent-type: application/json\r\nlocation: /a?token=geheim\r\ncontent-length: %d\r\n\r\n" % len(error)
    proxy = martlet(upstream=recorder(head + error).url, more="interceptors: [ { redact: { json: [/card] } } ]")
    seen = tap(proxy, messages="true")
    with proxy.http() as http:
        protocol.CONNECT_UNARY_JSON.call(http, headers={"referer": "http://a/?password=geheim"})
    seen.until("end")
    assert "geheim" not in json.dumps(seen.events) and "Z2VoZWlt" not in json.dumps(seen.events)
    assert seen.of("message", direction="response")[0]["json"] == {"code": "aborted", "message": "m", "details": "***"}


def test_bodies_that_are_kept_are_bounded(martlet, recorder, tap):
    """Of 400 calls under way, each with 64 KiB, no more than 8 MiB is kept."""

    def swallow(peer):
        while peer.receive():
            pass

    upstream = recorder(script=swallow)
    proxy = martlet(upstream=upstream.url, more="workers: 1")

    def memory(count):
        """The memory with so many calls under way."""
        known = len(upstream.connections)
        peers = []

        def have_come():
            new = list(upstream.connections)[known:]
            return len(new) == len(peers) and all(len(peer.received) > 65536 for peer in new)

        # No more at once than the upstream has places for in its queue.
        for _ in range(0, count, 50):
            peers += [proxy.connect() for _ in range(50)]
            for peer in peers[-50:]:
                peer.send(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n" + b"x" * 65536)
            eventually(have_come, within=20, what="the bodies")
        bytes_now = proxy.own_memory()
        for peer in peers:
            peer.close()
        proxy.wait_for_rest()
        return bytes_now

    without = memory(400)
    tap(proxy, rate="1000000/s", messages="true")
    assert memory(400) < without + (14 << 20)
