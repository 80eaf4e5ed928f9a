"""The manual pages name every command, option, signal, exit code and configuration key of the program."""

import json
import re

from support.martlet import ROOT


MAN = ROOT / "docs/man"
PROGRAM, FILE = ((MAN / name).read_text() for name in ("martlet.1", "martlet.yaml.5"))
# Keys of the file that stand below others.
FURTHER = {"address", "url", "min", "max", "memory", "handover", "generation", "name", "when", "mode", "ports", "read", "write"}


def words(page, macro):
    """The words that a page marks with a macro: `Cm` commands, `Fl` options, `Ic` keys."""
    lines = re.findall(rf"^\.(?:It |Op )?{macro} (.*)$", page, re.MULTILINE)
    return {word for line in lines for word in re.findall(r"[\w-]+", line)}


def test_commands_options_signals_and_exit_codes(command):
    usage = command("--help").stdout.text
    commands = set(re.findall(r"^(?:usage:|      ) martlet \[?(\w+)", usage, re.MULTILINE))
    assert len(commands) > 8 and words(PROGRAM, "Cm") == commands
    options = set(re.findall(r"(?<![\w-])-(-?\w[\w-]*)", usage))
    assert options and options <= words(PROGRAM, "Fl")
    signals = set(re.findall(r"SIG\w+", usage))
    assert signals and signals <= set(re.findall(r"SIG\w+", PROGRAM))
    line = usage.partition("exit codes:\n")[2]
    codes = re.findall(r"^  (\d+) ", line, re.MULTILINE)
    assert codes == re.findall(r"^\.It (\d+)$", PROGRAM, re.MULTILINE)


def test_keys_and_kinds(command):
    keys = set(json.loads(command("schema").stdout.text)["properties"])
    interceptors = command("reference").stdout.text.partition("\n## Interceptors\n")[2]
    kinds = set(re.findall(r"^### `(\w+)`$", interceptors, re.MULTILINE))
    assert len(kinds) > 10 and words(FILE, "Ic") == keys | kinds | FURTHER
