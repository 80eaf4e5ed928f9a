"""However the file is replaced, the next calls have the new value. No reload is needed."""

import os
import resource

import pytest

from support.wait import eventually
from tokens.token_file import Late, Renamed, Rewritten, Swapped


@pytest.mark.parametrize("kind", [Rewritten, Renamed, Swapped, Late])
def test_new_value(martlet, recorder, tmp_path, kind):
    file = kind(tmp_path / "secrets", "first")
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - token: {{ file: {file.path}, on_error: continue }}
        """
    )
    with proxy.http() as http:

        def sent():
            http.get("/")
            return upstream.requests[-1].header("authorization")

        assert sent() == (None if kind is Late else "Bearer first")
        for value in ["second", "third"]:
            file.change(value)
            eventually(lambda: sent() == f"Bearer {value}", what=f"the {value} value")


@pytest.mark.alone
@pytest.mark.parametrize("change", ["deleted", "emptied"])
def test_deleting_the_file_drops_the_token_and_emptying_it_does_not(martlet, recorder, tmp_path, change):
    file = tmp_path / "token"
    file.write_text("first")
    upstream = recorder()
    token = f"{{ name: auth, token: {{ file: {file}, wait: 100ms }} }}"
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\ninterceptors: [ {token} ]\n")
    with proxy.http() as http:
        assert http.get("/").status_code == 200
        if change == "deleted":
            file.unlink()
        else:
            file.write_text("")
        proxy.stderr.wait("no token .*" + ("No such file" if change == "deleted" else "empty"))
        if change == "deleted":
            eventually(lambda: http.get("/").status_code == 503, within=1.0, what="a call without a token")
        response = http.get("/")
        ready = proxy.admin("/readyz").status_code
        (credential,) = proxy.admin("/credentials").json()["credentials"]
        assert credential["last_error"]
        if change == "deleted":
            assert (response.status_code, ready, credential["state"]) == (503, 503, "failed")
            assert f"there is no token in {file}" in response.text
        else:
            assert (response.status_code, ready, credential["state"]) == (200, 200, "valid")
            assert upstream.requests[-1].header("authorization") == "Bearer first"
        file.write_text("second")
        eventually(lambda: http.get("/").status_code == 200 and upstream.requests[-1].header("authorization") == "Bearer second")


@pytest.mark.waits
@pytest.mark.parametrize("problem", ["folder", "descriptors"])
def test_a_file_that_cannot_be_read(martlet, recorder, tmp_path, problem):
    """The token of before is used, and the file is looked at again without another change."""
    file, other = tmp_path / "token", tmp_path / "other"
    file.write_text("first")
    upstream = recorder()
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\ninterceptors: [ token: {{ file: {file} }} ]\n")
    with proxy.http() as http:

        def sent():
            assert http.get("/").status_code == 200
            return upstream.requests[-1].header("authorization")

        assert sent() == "Bearer first"
        if problem == "folder":
            other.symlink_to(tmp_path)
            os.replace(other, file)
            proxy.stderr.wait("no token .*Is a directory")
        else:
            limits = resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE, (0, limits[1]))
            other.write_text("second")
            os.replace(other, file)
            proxy.stderr.wait("no token .*Too many open files")
            resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE, limits)
        assert sent() == "Bearer first"
        if problem == "folder":
            other.write_text("second")
            os.replace(other, file)
        eventually(lambda: sent() == "Bearer second", within=20, what="the new token")
