"""Compiles C sources to shared libraries, for tests that preload one into a daemon."""

import shutil
import subprocess
from pathlib import Path

import pytest

# Has a daemon wait for each file of a slow disk.
SLOW_OPEN = Path(__file__).parent / "slow_open.c"


def compiled(source, library):
    """Compiles the file `source` to `library`; returns the path of the library as a string."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        pytest.skip(f"there is no C compiler for {source}")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    return str(library)
