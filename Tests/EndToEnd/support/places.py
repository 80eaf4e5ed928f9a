"""Directories that a sandbox does not allow by itself."""

import os
import tempfile
from pathlib import Path

import pytest

from support.martlet import ROOT

# Directories that every sandbox allows; the clone may lie in one of them.
SCRATCH = ["/dev/shm", "/tmp", "/var/tmp"]


def outside_of_scratch():
    """Makes a directory that this user can write, and that no sandbox allows."""
    scratch = [os.path.realpath(path) for path in SCRATCH]
    places = [os.path.realpath(path) for path in (ROOT / ".build", "/run/lock", Path.home())]
    outside = [place for place in places if not any(Path(place).is_relative_to(path) for path in scratch)]
    usable = [place for place in outside if os.access(place, os.W_OK | os.X_OK)]
    if not usable:
        pytest.skip("this user can write nothing outside of the directories for temporary files")
    return Path(tempfile.mkdtemp(dir=usable[0], prefix="outside-"))
