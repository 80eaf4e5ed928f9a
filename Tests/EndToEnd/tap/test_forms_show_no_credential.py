"""The fields of a form that are named like credentials are masked wherever the body is shown, and a tape of it plays."""

import gzip
import json
from urllib.parse import urlencode

import pytest
from support.wait import eventually

# The fields that are masked, and those that are not.
SECRET = ["password", "client_secret", "refresh_token", "code", "key", "assertion", "user[passwd]", "otp", "csrf_token", "API-Key"]
PLAIN = {"user": "ann", "token_type": "bearer", "page": "2", "status_code": "5", "mail": "ann@example.com"}
FORM = PLAIN | {name: f"h0ney{index:03}" for index, name in enumerate(SECRET)}
PARTS = "".join(f'--b1\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in FORM.items()) + "--b1--\r\n"
TYPES = ["application/x-www-form-urlencoded", "Application/X-WWW-Form-URLencoded; charset=utf-8"]


@pytest.fixture
def start(martlet, recorder, tmp_path):
    def start(*response):
        return martlet(
            f"""
            listen: 127.0.0.1:0
            upstream: {recorder(*response).url}
            mocks: {{ spy: {{ methods: {{ Nothing: [ {{ respond: {{}} }} ] }} }} }}
            interceptors: [ {{ record: {{ to: {tmp_path}/tape.yaml }} }}, {{ mock: {{ name: spy, unmatched: next }} }} ]
            """
        )

    return start


def outputs(proxy, seen, call, tape):
    """The text of each output that shows bodies, by its name."""
    return {
        "tap": json.dumps(seen.events),
        "journal": proxy.admin("/mocks/spy/calls").text,
        "caller": proxy.admin(f"/calls/{call}/curl").text,
        "upstream": proxy.admin(f"/calls/{call}/curl?view=upstream").text,
        "tape": tape.read_text(),
    }


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("http2", [False, True], ids=["HTTP/1.1", "HTTP/2"])
def test_no_output_shows_a_field(start, tap, command, recorder, martlet, tmp_path, type, http2):
    proxy = start()
    seen = tap(proxy, messages="true")
    with proxy.http(http1=not http2, http2=http2) as http:
        assert http.post("/login", data=FORM, headers={"content-type": type}).status_code == 200
    call = seen.until("end")[0]["call"]
    tape = tmp_path / "tape.yaml"
    eventually(lambda: tape.exists() and tape.read_text().count("\n...\n") == 1, what="a recorded call")
    (tmp_path / "verify.yaml").write_text("spy: [ { method: Say } ]\n")
    shown = outputs(proxy, seen, call, tape)
    for name, text in shown.items():
        assert "h0ney" not in text, name
        assert "user=ann" in text and "token_type=bearer" in text and "password=***" in text, f"{name}: {text}"
    assert "the body has *** for what is not shown" in shown["caller"]
    verified = command("verify", tmp_path / "verify.yaml", "--admin", f"unix:{proxy.admin_socket}").stdout.text
    assert "h0ney" not in verified
    played = martlet(f"listen: 127.0.0.1:0\nmocks: {{ m: {{ tape: {tape} }} }}\ninterceptors: [ {{ mock: m }} ]\n")
    with played.http() as http:
        assert http.post("/login", data=FORM | {"user": "bob"}).status_code == 501
        assert http.post("/login", data=FORM | {"password": "another"}).status_code == 200


def test_bodies_of_other_types_stay(start, tap):
    proxy = start()
    seen = tap(proxy, messages="true")
    with proxy.http() as http:
        http.post("/login", content="password=shown", headers={"content-type": "text/plain"})
    seen.until("end")
    assert "password=shown" in json.dumps(seen.events)


# Bodies by their names: the type, the content, and whether it is compressed.
BODIES = {
    "form": (TYPES[0], urlencode(FORM).encode(), False),
    "parts": ("multipart/form-data; boundary=b1", PARTS.encode(), False),
    "quoted boundary": ('Multipart/Form-Data; charset=utf-8; boundary="b1"', PARTS.encode(), False),
    "parts that end early": ("multipart/form-data; boundary=b1", PARTS[: PARTS.index("003") + 2].encode(), False),
    "another boundary": ("multipart/form-data; boundary=b2", PARTS.encode(), False),
    "compressed form": (TYPES[0], gzip.compress(urlencode(FORM).encode(), mtime=0), True),
    "compressed parts": ("multipart/form-data; boundary=b1", gzip.compress(PARTS.encode(), mtime=0), True),
    "broken compression": (TYPES[0], urlencode(FORM).encode(), True),
}


@pytest.mark.parametrize("http2", [False, True], ids=["HTTP/1.1", "HTTP/2"])
@pytest.mark.parametrize("direction", ["request", "response"])
@pytest.mark.parametrize("type, content, compressed", BODIES.values(), ids=BODIES)
def test_no_output_shows_a_field_of_either_direction(start, tap, tmp_path, type, content, compressed, direction, http2):
    coding = {"content-encoding": "gzip"} if compressed else {}
    lines = "".join(f"{name}: {value}\r\n" for name, value in ({"content-type": type} | coding).items())
    head = f"HTTP/1.1 200 OK\r\n{lines}content-length: {len(content)}\r\n\r\n".encode()
    proxy = start(head + content) if direction == "response" else start()
    seen = tap(proxy, messages="true")
    with proxy.http(http1=not http2, http2=http2) as http:
        if direction == "request":
            assert http.post("/login", content=content, headers={"content-type": type} | coding).status_code == 200
        else:
            with http.stream("GET", "/token") as response:
                assert b"".join(response.iter_raw()) == content
    call = seen.until("end")[0]["call"]
    tape = tmp_path / "tape.yaml"
    eventually(lambda: tape.exists() and tape.read_text().count("\n...\n") == 1, what="a recorded call")
    shown = outputs(proxy, seen, call, tape)
    plain = json.dumps(content.decode("latin-1"))[1:20]
    for name, text in shown.items():
        assert "h0ney" not in text and (not compressed or plain not in text), f"{name}: {text}"
    if not compressed and "b2" not in type:
        assert all("ann" in shown[name] and "***" in shown[name] for name in ("tap", "journal", "tape")), shown


def test_errors_of_plain_http_repeat_no_credential(start, tap, tmp_path):
    body = b'{"error":"h0ney001 is no key","with":["h0ney001"]}'
    proxy = start(b"HTTP/1.1 401 No\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
    seen = tap(proxy, messages="true")
    with proxy.http() as http:
        assert http.get("/login", headers={"x-api-key": "h0ney001"}).content == body
    call = seen.until("end")[0]["call"]
    tape = tmp_path / "tape.yaml"
    eventually(lambda: tape.exists() and tape.read_text().count("\n...\n") == 1, what="a recorded call")
    shown = outputs(proxy, seen, call, tape)
    for name, text in shown.items():
        assert "h0ney" not in text, f"{name}: {text}"
    assert all("*** is no key" in shown[name] for name in ("tap", "journal", "tape")), shown
