"""The fields of a form that are named like credentials are masked wherever the body is shown, and a tape of it plays."""

import json

import pytest
from support.wait import eventually

# The fields that are masked, and those that are not.
SECRET = ["password", "client_secret", "refresh_token", "code", "key", "assertion", "user[passwd]", "otp", "csrf_token", "API-Key"]
PLAIN = {"user": "ann", "token_type": "bearer", "page": "2", "status_code": "5", "mail": "ann@example.com"}
FORM = PLAIN | {name: f"h0ney{index:03}" for index, name in enumerate(SECRET)}
TYPES = ["application/x-www-form-urlencoded", "Application/X-WWW-Form-URLencoded; charset=utf-8"]


@pytest.fixture
def start(martlet, recorder, tmp_path):
    def start():
        return martlet(
            f"""
            listen: 127.0.0.1:0
            upstream: {recorder().url}
            mocks: {{ spy: {{ methods: {{ Nothing: [ {{ respond: {{}} }} ] }} }} }}
            interceptors: [ {{ record: {{ to: {tmp_path}/tape.yaml }} }}, {{ mock: {{ name: spy, unmatched: next }} }} ]
            """
        )

    return start


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
    outputs = {
        "tap": json.dumps(seen.events),
        "journal": proxy.admin("/mocks/spy/calls").text,
        "caller": proxy.admin(f"/calls/{call}/curl").text,
        "upstream": proxy.admin(f"/calls/{call}/curl?view=upstream").text,
        "tape": tape.read_text(),
    }
    for name, text in outputs.items():
        assert "h0ney" not in text, name
        assert "user=ann" in text and "token_type=bearer" in text and "password=***" in text, f"{name}: {text}"
    assert "the body has *** for what is not shown" in outputs["caller"]
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
