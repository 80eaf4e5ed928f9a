"""Fixtures of the tests of the process."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.users import NOBODY, need_root


@pytest.fixture
def as_nobody(martlet, binary):
    """Starts a daemon as a user without privileges, in a separate directory."""
    need_root()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        shutil.chown(directory, 65534, 65534)
        copy = shutil.copy(binary, directory / "martlet")

        def start(upstream, more="", **options):
            return martlet(upstream=upstream, more=more, directory=directory, binary=copy, through=NOBODY, **options)

        yield start


@pytest.fixture
def readelf(binary):
    """What readelf says of the release binary, by option."""
    if not shutil.which("readelf"):
        pytest.skip("there is no readelf")
    if "debug" in Path(os.path.realpath(binary)).parts:
        pytest.skip("this is not the release binary")
    return lambda option: subprocess.check_output(["readelf", "--wide", option, binary], text=True)
