"""Each setting behind a `#` in etc/martlet.yaml is valid as soon as the `#` is removed."""

import re
import subprocess

import pytest

from support.martlet import BINARY, ROOT

LINES = (ROOT / "etc/martlet.yaml").read_text().splitlines()


def settings():
    """The settings behind marks: from their first line to the one behind the last that belongs to them."""
    line = 0
    while line < len(LINES):
        first = line
        line += 1
        if mark := re.match(r"( *)#\S", LINES[first]):
            while line < len(LINES) and LINES[line].startswith(f"{mark[1]}#  "):
                line += 1
            yield pytest.param(first, line, id=LINES[first].split("#")[1].strip(" -:"))


def unmarked(*ranges):
    lines = LINES.copy()
    for first, end in ranges:
        lines[first:end] = [re.sub(r"^( *)#", r"\1", line) for line in lines[first:end]]
    return "\n".join(lines)


def section(name):
    return next((first, end) for first, end in (setting.values for setting in settings()) if LINES[first] == name)


# What other settings name.
NAMED = [section("#chains:"), section("#caches:")]


@pytest.mark.parametrize("first, end", list(settings()))
def test_a_setting_is_valid_without_its_mark(first, end, tmp_path):
    text = unmarked(*sorted({*NAMED, (first, end)}, reverse=True))
    if "# for https://" in LINES[first]:
        text = text.replace("http://127.0.0.1:3000", "https://127.0.0.1:3000")
    file = tmp_path / "martlet.yaml"
    file.write_text(text)
    checked = subprocess.run([BINARY, "check", "-c", file], capture_output=True, text=True, timeout=10)
    # The files of TLS and what the machine is to have are not there, which is all that may be wrong.
    absent = ("No such file or directory", f"{file}: warning for this machine: ")
    wrong = [line for line in checked.stderr.splitlines() if not any(words in line for words in absent)]
    assert not wrong and (checked.returncode == 0 or checked.stderr), checked.stderr
