"""Compiles C sources to shared libraries, for tests that preload one into a daemon."""

import shutil
import subprocess

import pytest


def compiled(source, library):
    """Compiles the file `source` to `library`; returns the path of the library as a string."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        pytest.skip(f"there is no C compiler for {source}")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    return str(library)
