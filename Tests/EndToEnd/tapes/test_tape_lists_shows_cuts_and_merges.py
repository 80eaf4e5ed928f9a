"""`martlet tape` reads tapes: it lists, shows, cuts and merges the calls in them."""

import pytest

CALL = """---
call: {call}
started: "2026-11-27T04:00:0{second}.000000Z"
took: 34ms
script:
  - expect: {{ text: "a" }}
    at: 0ms
  - closed: true
    at: 1ms
  - send: {{ json: {{"sentence": "{text}"}} }}
    at: 31250us
  - end: {{ {end} }}
    at: 34ms
...
"""


def call(name, second=0, text="x", end=""):
    return CALL.format(call=name, second=second, text=text, end=end)


@pytest.fixture
def tape(tmp_path):
    def write(*calls, name="tape.yaml"):
        file = tmp_path / name
        file.write_text("".join(calls))
        return file

    return write


def test_list(command, tape):
    file = tape(call("a.S/Get", 1), call("a.S/Put", 2, end="code: not_found"), call("a.S/Put", 3).replace("script", 'incomplete: "x"\nscript'))
    result = command("tape", "ls", file)
    assert result.stdout.text.splitlines() == [
        "1  2026-11-27T04:00:01.000000Z  a.S/Get  ok  1/1  34ms",
        "2  2026-11-27T04:00:02.000000Z  a.S/Put  not_found  1/1  34ms",
        "3  2026-11-27T04:00:03.000000Z  a.S/Put  ok  1/1  34ms  incomplete: x",
    ]


def test_show(command, tape):
    calls = [call("a.S/Get", 1, "one\x85"), call("a.S/Put", 2)]
    file = tape(*calls)
    assert command("tape", "show", file, "2").stdout.text == calls[1].strip()
    shown = command("tape", "show", file).stdout.text
    assert shown == "".join(calls).replace("\x85", "\\x85").strip()
    result = command("tape", "show", file, "7")
    assert (result.code, "has no call 7" in result.stderr.text) == (1, True)


def test_cut(command, tape):
    calls = [call("a.S/Get", 1), call("a.S/Put", 2), call("a.T/Get", 3), call("a.S/Get", 4)]
    file = tape(*calls)
    assert command("tape", "cut", file, "--call", "a.S/*").stdout.text == (calls[0] + calls[1] + calls[3]).strip()
    assert command("tape", "cut", file, "--call", "*/Get", "--from", "2", "--to", "3").stdout.text == calls[2].strip()
    result = command("tape", "cut", file, "--from", "3", "--to", "2")
    assert (result.code, "swap them" in result.stderr.text) == (2, True)


def test_merge(command, tape):
    calls = [call("a.S/Get", number) for number in range(6)]
    one = tape(calls[4], calls[0], name="one.yaml")
    two = tape(calls[1], calls[5], calls[2], name="two.yaml")
    merged = command("tape", "merge", one, two).stdout.text
    assert merged == calls[0] + calls[1] + calls[2] + calls[4] + calls[5].strip()


def test_a_torn_call_at_the_end_of_a_line(command, tape):
    torn = call("a.S/Put")
    file = tape(call("a.S/Get"), torn[: torn.index("  - end")])
    result = command("tape", "ls", file)
    assert (result.code, len(result.stdout.text.splitlines())) == (0, 1)
    assert "is not whole, and is passed over" in result.stderr.text


def test_a_broken_call_has_its_place(command, tape):
    result = command("tape", "ls", tape(call("a.S/Get"), call("a.S/Put").replace("took: 34ms", "took: ["), call("a.S/Get")))
    assert (result.code, len(result.stdout.text.splitlines())) == (1, 2)
    assert "tape.yaml:19" in result.stderr.text or "tape.yaml:20" in result.stderr.text


def test_errors_of_use(command, tape, tmp_path):
    result = command("tape", "list", "x")
    assert (result.code, 'unknown action "list"' in result.stderr.text) == (2, True)
    assert command("tape", "ls", tmp_path / "none").code == 1
    assert command("tape", "ls", tape(call("a.S/Get")), "x").code == 2


def test_a_long_tape_is_not_held(command, tape):
    import resource

    file = tape(*[call("a.S/Get", text="x" * 60_000)] * 1000)
    result = command("tape", "ls", file, through=["bash", "-c", 'ulimit -v 400000; exec "$0" "$@"'])
    assert (result.code, len(result.stdout.text.splitlines())) == (0, 1000), result.stderr.text


def test_cut_says_that_nothing_was_cut(command, tmp_path):
    (tmp_path / "tape.yaml").write_text("---\ncall: a.B/Get\nstarted: \"2026-01-01T00:00:00Z\"\nscript: []\n...\n")
    result = command("tape", "cut", tmp_path / "tape.yaml", "--call", "Get")
    assert (result.code, result.stdout.text) == (1, "")
    assert "has no such call; write for example --call '*Get'" in result.stderr.text


def test_what_is_no_tape_is_an_error(command, tmp_path):
    (tmp_path / "tape.yaml").write_text("hello: world\n")
    result = command("tape", "ls", tmp_path / "tape.yaml")
    assert (result.code, '1:1: the document has no call' in result.stderr.text) == (1, True)


def test_files_without_a_line_feed_at_their_end_are_merged(command, tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}.yaml").write_text(f"call: a.B/Get{number}\nstarted: \"2026-01-0{number}T00:00:00Z\"\nscript: []")
    result = command("tape", "merge", tmp_path / "2.yaml", tmp_path / "1.yaml")
    assert result.code == 0
    (tmp_path / "merged.yaml").write_text(result.stdout.text)
    listed = command("tape", "ls", tmp_path / "merged.yaml")
    assert [line.split()[2] for line in listed.stdout.text.splitlines()] == ["a.B/Get1", "a.B/Get2"], listed.stderr.text
