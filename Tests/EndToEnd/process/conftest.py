"""Fixtures of the tests of the process."""

import shutil
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
