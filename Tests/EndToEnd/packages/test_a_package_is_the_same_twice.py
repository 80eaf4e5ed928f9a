"""The Debian package is the same byte by byte wherever, whenever and by whomever it is made."""

import os
import shutil
import subprocess

import pytest
from support.martlet import BINARY, ROOT


def git(*arguments):
    return subprocess.check_output(["git", *arguments], text=True, cwd=ROOT)


def build(tree, directory, umask, **environment):
    subprocess.run(
        ["sh", "-c", f"umask {umask}; exec {tree}/scripts/build-deb '{directory}'"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"BINARY": str(BINARY)} | environment,
    )
    return {file.name: file.read_bytes() for file in directory.iterdir()}


@pytest.mark.timeout(180)
def test_twice(tmp_path):
    other = tmp_path / "other"
    files = git("ls-files", "--cached", "--others", "--exclude-standard", "-z", "scripts", "systemd", "etc", "docs/man", "packaging", "*.md", "Makefile")
    for file in [*files.strip("\0").split("\0"), ".build/archives/libstdc++.a", ".build/licences/upb.LICENSE"]:
        (other / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, other / file, follow_symlinks=False)
        # Files that are older than the commit, and newer ones.
        os.utime(other / file, (1, 1) if "etc" in file else None, follow_symlinks=False)
    (tmp_path / "one").mkdir()
    (tmp_path / "b c").mkdir()
    one = build(ROOT, tmp_path / "one", "022")
    commit = {"SOURCE_DATE_EPOCH": git("log", "-1", "--format=%ct").strip(), "MAINTAINER": git("log", "-1", "--format=%an <%ae>").strip()}
    # Another directory, umask, time zone and language, and no repository.
    two = build(other, tmp_path / "b c", "077", TZ="Asia/Tokyo", LANG="de_DE.UTF-8", **commit)
    assert one and one == two
