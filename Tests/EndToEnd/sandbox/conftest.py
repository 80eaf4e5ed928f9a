"""Places outside of the sandbox, and a kernel that has one."""

import ctypes
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from support.martlet import ROOT
from support.users import need_root

LANDLOCK_CREATE_RULESET = 444
# Directories that every sandbox allows; the clone may lie in one of them.
SCRATCH = ["/dev/shm", "/tmp", "/var/tmp"]


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
    scratch = [os.path.realpath(path) for path in SCRATCH]
    places = [os.path.realpath(path) for path in (ROOT / ".build", "/run/lock", Path.home())]
    outside = [place for place in places if not any(Path(place).is_relative_to(path) for path in scratch)]
    usable = [place for place in outside if os.access(place, os.W_OK | os.X_OK)]
    if not usable:
        pytest.skip("this user can write nothing outside of the directories for temporary files")
    directory = Path(tempfile.mkdtemp(dir=usable[0], prefix="outside-"))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def private():
    """A directory in which no system has files."""
    need_root()
    directory = Path(tempfile.mkdtemp(dir="/srv", prefix="martlet-"))
    yield directory
    shutil.rmtree(directory)
