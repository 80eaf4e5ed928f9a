"""Martlet with a mock of Eliza, who is not there."""

import textwrap

import pytest
from support.eliza_callers import caller, eliza_types  # noqa: F401
from support.servers.eliza_messages import SERVICE

@pytest.fixture
def mocked(martlet, eliza_types):
    """Starts Martlet with the mock `eliza` of these options, and what else its file has."""

    def start(options, more="", interceptors="[ { mock: eliza } ]"):
        text = textwrap.indent(textwrap.dedent(options).strip(), "    ")
        return martlet(
            f"listen: 127.0.0.1:0\nmocks:\n  eliza:\n    service: {SERVICE}\n{text}\n"
            f"interceptors: {interceptors}\ntypes: {{ files: [{eliza_types}] }}\n{more}"
        )

    return start
