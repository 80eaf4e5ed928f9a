"""Places outside of the sandbox, and a kernel that has one."""

import ctypes
import shutil
import tempfile
from pathlib import Path

import pytest

from support.places import outside_of_scratch
from support.users import need_root

LANDLOCK_CREATE_RULESET = 444


@pytest.fixture(scope="session", autouse=True)
def landlock():
    """The version of the kernel's Landlock."""
    version = ctypes.CDLL(None).syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        pytest.skip("the kernel has no Landlock")
    return version


@pytest.fixture
def writable():
    """A directory that this user can write, and that no sandbox allows."""
    directory = outside_of_scratch()
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def private():
    """A directory in which no system has files."""
    need_root()
    directory = Path(tempfile.mkdtemp(dir="/srv", prefix="martlet-"))
    yield directory
    shutil.rmtree(directory)
