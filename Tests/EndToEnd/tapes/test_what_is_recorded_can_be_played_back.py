"""What is recorded of one caller is played back to callers of every protocol, and makes tests that pass."""

import pytest
from support.servers.eliza import Client
from support.wait import eventually


@pytest.fixture
def tape(martlet, eliza, eliza_types, tmp_path):
    """Records some calls of a real service, which a client makes; returns the path of the tape."""

    def record(make):
        path = tmp_path / "recorded.yaml"
        proxy = martlet(
            f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: {eliza.url}, speaks: connect }} }}\ntypes: {{ files: [{eliza_types}] }}\ninterceptors: [ {{ record: {path} }} ]\n"
        )
        client = make(proxy)
        assert client.say("hello") == "Eliza heard hello"
        assert list(client.converse(["a", "b {c}"])) == ["Eliza heard a", "Eliza heard b {c}"]
        assert client.listen(["x", "y"])
        eventually(lambda: path.exists() and path.read_text().count("\n...\n") == 3)
        return path

    return record


@pytest.fixture
def player(martlet, eliza_types):
    def play(path, more=""):
        return martlet(
            f"listen: 127.0.0.1:0\ntypes: {{ files: [{eliza_types}] }}\nmocks: {{ eliza: {{ tape: {path} }} }}\n"
            f"interceptors: [ {{ mock: eliza }} ]\n{more}"
        )

    return play


@pytest.mark.parametrize("recorded", ["proto", "json"])
def test_every_caller_gets_what_another_has_recorded(tape, player, caller, recorded):
    path = tape(lambda proxy: Client(proxy.url, recorded))
    proxy = player(path)
    client = caller(proxy)
    assert client.say("hello") == "Eliza heard hello"
    assert list(client.converse(["a", "b {c}"])) == ["Eliza heard a", "Eliza heard b {c}"]
    assert client.listen(["x", "y"])
    with pytest.raises(Exception, match="played this call once already"):
        client.say("hello")


def test_tests_of_a_tape_pass(tape, caller, command, eliza_types, tmp_path):
    path = tape(caller)
    (tmp_path / "martlet.yaml").write_text(
        f"listen: 127.0.0.1:8080\nupstream: h2c://127.0.0.1:1\ntypes: {{ files: [{eliza_types}] }}\ninterceptors: [ {{ headers: {{ request: {{ set: {{ x-a: b }} }} }} }} ]\n"
    )
    made = command("test", "--from-tape", path, "-c", tmp_path / "martlet.yaml")
    assert made.code == 0, made.stderr.text
    (tmp_path / "made.tests.yaml").write_text(made.stdout.text + "\n")
    result = command("test", tmp_path / "made.tests.yaml")
    assert (result.code, result.stdout.text.count("ok  ")) == (0, 3), result.stdout.text + result.stderr.text
    # And they can fail.
    (tmp_path / "made.tests.yaml").write_text(made.stdout.text.replace("Eliza heard b", "Eliza heard c") + "\n")
    assert command("test", tmp_path / "made.tests.yaml").code == 1


def test_what_is_missing_is_recorded_behind_the_mock(martlet, eliza, eliza_types, tmp_path):
    path = tmp_path / "grows.yaml"
    path.write_text("")
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {eliza.url}
        types: {{ files: [{eliza_types}] }}
        mocks: {{ eliza: {{ tape: {path}, repeat: true }} }}
        interceptors: [ {{ mock: {{ name: eliza, unmatched: next }} }}, {{ record: {path} }} ]
        """
    )
    client = Client(proxy.url)
    assert client.say("hello") == "Eliza heard hello"
    eventually(lambda: path.read_text().count("\n...\n") == 1)
    text = (proxy.directory / "martlet.yaml").read_text()
    proxy.reload(text.replace(eliza.url, "http://127.0.0.1:1"))
    assert [client.say("hello"), client.say("hello")] == ["Eliza heard hello"] * 2
    assert path.read_text().count("\n...\n") == 1


@pytest.mark.parametrize("kind", ["pipe", "directory", "missing"])
def test_a_tape_must_be_a_file(command, tmp_path, kind):
    import os

    path = tmp_path / "tape"
    {"pipe": os.mkfifo, "directory": os.mkdir, "missing": lambda path: None}[kind](path)
    (tmp_path / "martlet.yaml").write_text(f"listen: 127.0.0.1:0\nmocks: {{ m: {{ tape: {path} }} }}\ninterceptors: [ {{ mock: m }} ]\n")
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert (result.code, f"cannot read {path}" in result.stderr.text) == (78, True)
