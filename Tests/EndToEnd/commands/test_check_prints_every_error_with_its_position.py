"""One run reports every error of a file, in the order of the file, and says what to write instead."""

import os
import re

import pytest

FILE = """\
listn: 127.0.0.1:0
upstreams:
  one: { url: "http://127.0.0.1:80/path" }
  two: { url: "https://127.0.0.1:443", timeouts: { connect: soon } }
interceptors:
  - heders: {}
  - token: { file: /a, env: B }
  - reject: { code: permision_denied }
  - headers: { request: { set: { content-length: "7" } } }
  - headers: { request: { set: { x-a: "{nothing}" } } }
  - metrics: {}
    when: { header: { x-a: { regex: "(" } } }
routes:
  - match: { path: 7 }
    upstream: three
drain: { max: -1 }
workers: 65
drain: {}
<<: {}
"""
# line: (first column it may stand in, last one, what it says)
EXPECTED = {
    1: (1, 1, 'unknown key "listn"; did you mean "listen"?'),
    3: (10, 36, ""),
    4: (10, 70, ""),
    6: (5, 5, '"headers"'),
    7: (5, 30, ""),
    8: (21, 21, '"permission_denied"'),
    9: (32, 48, "content-length"),
    10: (32, 45, "nothing"),
    12: (29, 38, ""),
    15: (15, 15, "three"),
    16: (15, 15, ""),
    17: (10, 10, ""),
    18: (1, 1, 'the key "drain" is already used on line 16'),
    19: (1, 1, "merge keys"),
}


@pytest.mark.parametrize("arguments", [["check"], ["-t"]], ids=" ".join)
def test_all_in_one_run(command, tmp_path, arguments):
    (tmp_path / "martlet.yaml").write_text(FILE)
    result = command(*arguments, "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 78
    found = [re.fullmatch(r"martlet\.yaml:(\d+):(\d+): (.+)", line) for line in result.stderr]
    assert all(found), result.stderr.text
    positions = [(int(match[1]), int(match[2])) for match in found]
    assert positions == sorted(positions)
    for line, (first, last, text) in EXPECTED.items():
        of_line = [match for match in found if int(match[1]) == line]
        assert any(first <= int(match[2]) <= last and text in match[3] for match in of_line), (line, result.stderr.text)


def test_a_file_that_is_not_yaml(command, tmp_path):
    (tmp_path / "martlet.yaml").write_text("listen: 127.0.0.1:0\nupstream: [\n")
    result = command("check", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 78
    assert re.match(r"martlet\.yaml:\d+:\d+: ", result.stderr.text)


def test_a_duplicate_key(command, tmp_path):
    (tmp_path / "martlet.yaml").write_text(
        "upstream: http://127.0.0.1:1\nlisten: 127.0.0.1:0\nupstream: http://127.0.0.1:2\n"
    )
    result = command("check", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 78
    assert result.stderr.text.startswith("martlet.yaml:3:1: ")


def test_run_rejects_the_same_file(command, tmp_path):
    (tmp_path / "martlet.yaml").write_text("upstream: http://127.0.0.1:80\nlisten: 127.0.0.1:0\nlog_level: loud\n")
    result = command("run", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 78
    assert "martlet.yaml:3:12: " in result.stderr.text


def test_a_missing_file(command, tmp_path):
    result = command("check", "-c", tmp_path / "none.yaml")
    assert result.code == 78
    assert "none.yaml" in result.stderr.text


@pytest.mark.parametrize("make, words", [(os.mkdir, "Is a directory"), (os.mkfifo, "Not a regular file")])
def test_a_path_that_is_not_a_file(command, tmp_path, make, words):
    make(tmp_path / "martlet.yaml")
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert result.code == 78 and f"cannot read {tmp_path}/martlet.yaml: {words}" in result.stderr.text


def test_a_file_for_another_machine(command, tmp_path):
    """The file is good, as it may be for another machine."""
    (tmp_path / "martlet.yaml").write_text(
        """\
listeners:
  - address: unix:/nowhere/rpc.sock
  - { address: "unix:/tmp/rpc.sock", owner: nobody-such }
  - { address: "unix:/tmp/group.sock", group: none-such }
upstream: http://127.0.0.1:80
admin: unix:/nowhere/admin.sock
interceptors: [ token: { file: /nowhere/token } ]
"""
    )
    result = command("check", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 0
    assert result.stderr.text.splitlines() == [
        f"martlet.yaml: warning for this machine: {text}"
        for text in (
            "cannot listen on unix:/nowhere/rpc.sock: the directory does not exist",
            'cannot listen on unix:/tmp/rpc.sock: the user "nobody-such" does not exist',
            'cannot listen on unix:/tmp/group.sock: the group "none-such" does not exist',
            "cannot listen on unix:/nowhere/admin.sock: the directory does not exist",
            "cannot read the token in /nowhere/token: No such file or directory",
        )
    ]
    assert result.stdout.text == "martlet.yaml: valid: 3 listeners, 1 upstream, 1 route"


def test_a_good_file_is_silent_about_errors(command, tmp_path):
    (tmp_path / "martlet.yaml").write_text("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:80\n")
    result = command("check", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 0
    assert ":1:" not in result.stderr.text
