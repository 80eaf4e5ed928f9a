"""An expired token in a file is reported with its time in the log, the status and the error."""

import json
import re
import time
from base64 import urlsafe_b64encode
from datetime import datetime, timezone

import pytest

from support.wait import eventually

pytestmark = pytest.mark.waits


def jwt(expiry):
    parts = [{"alg": "none"}, {"exp": int(expiry)}, {}]
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)


def text(expiry):
    return datetime.fromtimestamp(int(expiry), timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@pytest.mark.parametrize("source", ["file", "value"])
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_expired(martlet, recorder, tmp_path, source, when):
    file = tmp_path / "token"
    expiry = time.time() - 1000 if when == "before" else time.time() + 3
    file.write_text(jwt(expiry))
    token = f"{{ file: {file}, wait: 100ms }}" if source == "file" else f"{{ value: {jwt(expiry)} }}"
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: {recorder().url}\ninterceptors: [ {{ name: auth, token: {token} }} ]\n")
    with proxy.http() as http:
        if when == "meanwhile":
            assert http.get("/").status_code == 200
            assert proxy.admin("/readyz").text.strip() == "ready"
        reported = text(expiry)
        eventually(lambda: proxy.admin("/readyz").status_code == 503, what="a daemon that is not ready")
        assert proxy.admin("/readyz").text.strip() == f"missing credentials: auth (expired at {reported})"
        response = http.get("/")
        place = f"in {file} " if source == "file" else ""
        assert (response.status_code, f"the token {place}expired at {reported}" in response.text) == (503, True), response.text
        (credential,) = proxy.admin("/credentials").json()["credentials"]
        assert (credential["state"], credential["expires_at"]) == ("expired", reported)
        assert f"credential: auth ({source}), expired at {reported}" in proxy.admin("/status").text
        ends = proxy.metrics().select("martlet_credential_expiry_timestamp_seconds", credential="auth")
        assert [value for _, value in ends] == [int(expiry)]
        if source == "value":
            return
        proxy.stderr.wait(f"token expired.*{re.escape(reported)}")
        file.write_text(jwt(time.time() + 1000))
        eventually(lambda: proxy.admin("/readyz").status_code == 200, what="a daemon that is ready")
        eventually(lambda: http.get("/").status_code == 200, what="a call that gets the new token")
        assert len(proxy.stderr.matches("token expired")) == 1
