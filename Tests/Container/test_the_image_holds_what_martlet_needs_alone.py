"""The image has Martlet, its libraries, certificates and licences: no shell, no package manager, and nothing that its user may change."""

import os
import re
import shutil
import stat

import pytest

import dockerfile
from calling import say
from support.certificates import Authority
from support.http1.recorder import JSON, Recorder
from support.martlet import ROOT

WRITABLE = {"/tmp": 0o1777, "/run/martlet": 0o1777}


@pytest.fixture(scope="module")
def files(root):
    """Each file and directory of the image, by its name: what `lstat` says."""
    found = {}
    for directory, directories, names in os.walk(root):
        for name in directories + names:
            place = os.path.join(directory, name)
            found["/" + os.path.relpath(place, root)] = os.lstat(place)
    # Containers of other tests have put these there: what runc mounts in every container.
    return {name: status for name, status in found.items() if name.split("/")[1] not in ("proc", "sys", "dev", "shared")}


def programs(files):
    regular = {name for name, status in files.items() if stat.S_ISREG(status.st_mode) and status.st_mode & 0o111}
    return {name for name in regular if not name.startswith("/usr/lib")}


def test_there_is_one_program(files):
    assert programs(files) == {"/usr/bin/martlet"}
    assert {name for name in files if name.startswith("/usr/bin/")} == {"/usr/bin/martlet", "/usr/bin/ld.so"}
    assert not {"/bin", "/sbin", "/usr/sbin"} & files.keys()


@pytest.mark.parametrize("program", ["sh", "/bin/sh", "/bin/bash", "apt-get", "dpkg", "perl", "cat"])
def test_nothing_else_starts(container, program):
    started = container().wait().exec(program)
    assert started.returncode != 0
    assert re.search("executable file not found|no such file", started.stderr)


def test_all_is_roots_and_only_two_directories_are_open(files):
    assert {name for name, status in files.items() if (status.st_uid, status.st_gid) != (0, 0)} == set()
    modes = {name: stat.S_IMODE(status.st_mode) for name, status in files.items() if not stat.S_ISLNK(status.st_mode)}
    assert {name: mode for name, mode in modes.items() if mode & 0o022} == WRITABLE
    assert not [name for name, status in files.items() if status.st_mode & (stat.S_ISUID | stat.S_ISGID)]


def test_every_file_can_be_read_by_any_user(files):
    for name, status in files.items():
        needed = 0o005 if stat.S_ISDIR(status.st_mode) else 0o004
        assert status.st_mode & needed == needed, name


def test_each_library_that_it_maps_is_from_a_package_that_scanners_find(container, root, files):
    status = {place.name: place.read_text() for place in (root / "var/lib/dpkg/status.d").iterdir()}
    assert {"libc6", "libssl3", "ca-certificates", "base-files"} <= status.keys()
    for package, text in status.items():
        assert f"Package: {package}\n" in text and "\nVersion: " in text
        assert (root / f"usr/share/doc/{package}/copyright").stat().st_size > 0
    assert "VERSION_CODENAME=bookworm" in (root / "etc/os-release").read_text()
    mapped = container().wait().mapped()
    assert mapped and mapped <= files.keys()


def test_the_licences_are_there(root):
    documents = root / "usr/share/doc/martlet"
    for name in ("LICENSE", "nghttp2.COPYING", "upb.LICENSE"):
        assert (documents / name).stat().st_size > 0


def test_its_size_is_that_of_the_page(files):
    said = re.search(r"The image has (\d+) MB", (ROOT / "docs/containers.md").read_text())[1]
    size = sum(status.st_size for status in files.values() if stat.S_ISREG(status.st_mode)) / 1e6
    assert abs(size - int(said)) < 5, size


def test_its_user_and_group_have_names(root):
    user, group = dockerfile.USER
    assert f"martlet:x:{user}:{group}:" in (root / "etc/passwd").read_text()
    assert f"martlet:x:{group}:" in (root / "etc/group").read_text()


def test_it_trusts_the_authorities_of_a_file_that_can_be_mounted(container, own, shared, running, tmp_path, files):
    authority = Authority(tmp_path / "authority")
    upstream = running(Recorder(JSON, tls=authority.issue().server()))
    ours = own.replace("unix:/shared/upstream.sock", upstream.url)
    untrusted = container(configuration=ours, network=True).wait()
    assert say(shared).json()["code"] == "unavailable" and not upstream.requests
    untrusted.stop()
    certificates = tmp_path / "certificates"
    certificates.mkdir()
    shutil.copy(authority.file, certificates / "ca-certificates.crt")
    trusted = container(configuration=ours, network=True, mounts={"/etc/ssl/certs": certificates}).wait()
    assert say(shared).json() == {} and len(upstream.requests) == 1
    assert trusted.mapped() <= files.keys()


def test_a_copy_of_the_image_runs_in_any_other(container, root, tmp_path):
    """A program's own image may have other libraries, or none: the copy brings its loader."""
    other = tmp_path / "other"
    shutil.copytree(root, other / "opt/martlet", symlinks=True)
    loader = ["/opt/martlet/usr/bin/ld.so", "--library-path", "/opt/martlet/usr/lib", "/opt/martlet/usr/bin/martlet"]
    ours = container("-c", "/opt/martlet/etc/martlet/martlet.yaml", entry=loader, environment={}, image=other, volumes=False).wait()
    assert all(name.startswith("/opt/martlet/") for name in ours.mapped())
    ours.kill("TERM")
    assert ours.exit_code() == 0
