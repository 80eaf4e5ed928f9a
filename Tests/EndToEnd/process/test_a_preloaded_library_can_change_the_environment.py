"""A library whose constructor calls setenv disturbs neither the arguments nor the environment of Martlet."""

from pathlib import Path

import pytest

from support.compiler import compiled

SOURCE = Path(__file__).parent / "setenv.c"
UPSTREAM = "upstream: http://127.0.0.1:9\nlisten: 127.0.0.1:0\n"


@pytest.fixture
def preloaded(tmp_path):
    """The environment of a program that has the library."""
    return {"LD_PRELOAD": compiled(SOURCE, tmp_path / "setenv.so")}


def test_a_command(command, preloaded):
    assert command("version", environment=preloaded).stdout.text.startswith("martlet ")


def test_an_option(command, preloaded, tmp_path):
    (tmp_path / "wrong.yaml").write_text(UPSTREAM + "lisen: 1\n")
    result = command("check", "-c", tmp_path / "wrong.yaml", environment=preloaded)
    assert result.code == 78 and "wrong.yaml:3:1: unknown key" in result.stderr.text


def test_a_variable(command, preloaded, tmp_path):
    (tmp_path / "wrong.yaml").write_text(UPSTREAM + "lisen: 1\n")
    result = command("check", environment=preloaded | {"MARTLET_CONFIG": str(tmp_path / "wrong.yaml")})
    assert result.code == 78 and "wrong.yaml:3:1: unknown key" in result.stderr.text


def test_the_environment_of_a_program(martlet, recorder, preloaded, tmp_path):
    """The environment as the library has made it."""
    script = tmp_path / "program"
    script.write_text('#!/bin/sh\nprintf "%s-%s" "$ADDED_BY_A_LIBRARY" "$GIVEN"\n')
    script.chmod(0o755)
    upstream = recorder()
    token = f"interceptors: [{{ token: {{ exec: {{ command: [ {script} ], format: text }} }} }}]"
    proxy = martlet(upstream=upstream.url, more=token, environment=preloaded | {"GIVEN": "yes"})
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    assert upstream.requests[0].header("authorization") == "Bearer 1-yes"
