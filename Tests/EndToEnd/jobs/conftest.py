"""Fixtures: programs that `martlet exec` runs."""

import pytest

from jobs.programs import children, is_copy
from support.wait import eventually

# The tests may run in the background of a shell, which ignores some signals there, and so would the program.
FOREGROUND = ["env", "--default-signal=HUP,INT,QUIT"]


@pytest.fixture
def job(martlet, recorder):
    """Starts `martlet exec` with a program, by default before an upstream that responds at once."""

    def start(*program, options=(), upstream=None, through=(), **more):
        return martlet(
            upstream=upstream or recorder().url,
            command=["exec", *options],
            trailing=["--", *program],
            through=[*FOREGROUND, *through],
            **more,
        )

    return start


@pytest.fixture
def program_of():
    """The number of the program of a daemon, once it has begun."""

    def find(proxy):
        proxy.stderr.wait(r" program started\b")
        (number,) = children(proxy.pid)
        eventually(lambda: not is_copy(number, proxy.pid), what="the program")
        return number

    return find
