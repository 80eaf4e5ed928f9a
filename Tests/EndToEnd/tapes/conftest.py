"""Martlet that records calls on a tape."""

import pytest
from ruamel.yaml import YAML
from support.eliza_callers import caller, eliza_types  # noqa: F401
from support.wait import eventually


class Tape:
    """The file of a tape."""

    def __init__(self, path):
        self.path = path

    @property
    def text(self):
        return self.path.read_text()

    def calls(self, count):
        """The documents, once there are so many."""
        eventually(lambda: self.path.exists() and self.text.count("\n...\n") >= count, what=f"{count} recorded calls")
        return list(YAML(typ="safe").load_all(self.text))

    def call(self):
        (call,) = self.calls(1)
        return call


@pytest.fixture
def tape(tmp_path):
    return Tape(tmp_path / "tape.yaml")


@pytest.fixture
def recorded(martlet, tape, eliza_types):
    """Starts Martlet with a recorder with these options, and what else its file has."""

    def start(upstream=None, options="", before="", after="", more="", types=True):
        upstream = f"upstream: {upstream}" if upstream else ""
        types = f"types: {{ files: [{eliza_types}] }}" if types else ""
        chain = f"interceptors: [ {before} {{ record: {{ to: {tape.path}{options} }} }} {after} ]"
        return martlet(f"listen: 127.0.0.1:0\n{upstream}\n{types}\n{chain}\n{more}\n")

    return start
