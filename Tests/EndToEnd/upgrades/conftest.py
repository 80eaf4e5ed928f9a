"""Fixtures of the tests of upgrades."""

import os
import shutil

import pytest

from support.ports import free_port
from upgrades.upgraded import Upgraded


@pytest.fixture
def program(binary, installed):
    """The path of a program that can be replaced while it runs; removed is only the name."""
    path = installed / "program" / "martlet"
    path.parent.mkdir()
    shutil.copy(binary, path)
    return path


@pytest.fixture
def address():
    """A free address: with port 0 a new process would choose another."""
    return f"127.0.0.1:{free_port()}"


@pytest.fixture
def replace(program):
    """Puts another program in the place: the text of a shell script."""

    def put(script):
        new = program.with_suffix(".new")
        new.write_text(f"#!/bin/sh\n{script}\n")
        new.chmod(0o755)
        os.replace(new, program)

    return put


@pytest.fixture
def upgraded(program, running, installed):
    """Starts a daemon from `program`; it is stopped after the test, whatever process it is by then."""
    started = []

    def start(configuration, **options):
        started.append(running(Upgraded(configuration, installed / "daemon", binary=program, **options)))
        return started[-1]

    yield start
    for one in started:
        print(f"--- martlet {one.pid}\n{one.stderr.text}\n{one.stdout.text}")
