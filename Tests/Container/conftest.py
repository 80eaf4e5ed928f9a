"""Fixtures: the image's root file system, made once, and containers of it that end with their test."""

import shutil
import subprocess
from contextlib import ExitStack

import pytest

import image
from container import Container
from support.martlet import BINARY, ROOT


def missing_rights():
    """Why this machine runs no container; None if it does."""
    tried = subprocess.run(
        ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "true"], capture_output=True, text=True
    )
    return f"namespaces are not allowed here: {tried.stderr.strip()}" if tried.returncode else None


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    """The root file system of the image."""
    if reason := missing_rights():
        pytest.skip(reason)
    assert shutil.which("runc") and shutil.which("debootstrap"), "scripts/install-container-deps brings what is missing"
    assert BINARY.exists(), f"{BINARY} is missing: build it or set MARTLET_BIN"
    place = image.make(tmp_path_factory.mktemp("image") / "root")
    yield place
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def programs():
    """Mounts that bring a shell and small programs to /shared/bin, since the image has none. Their library is the image's."""
    return {"/shared/bin": image.base() / "usr/bin"}


@pytest.fixture
def shared(tmp_path):
    """A directory that is /shared in each container, where any user may write."""
    place = tmp_path / "shared"
    place.mkdir()
    place.chmod(0o777)
    return place


@pytest.fixture
def running():
    """Starts a thing and stops it when the test ends; the last started stops first."""
    with ExitStack() as stack:

        def start(thing):
            stack.callback(thing.stop)
            return thing

        yield start


@pytest.fixture
def container(root, running, tmp_path, shared):
    """Starts a container of the image, or of another; with `configuration`, a text, as its /etc/martlet/martlet.yaml."""
    started = []

    def start(*arguments, configuration=None, mounts=(), image=root, **options):
        place = tmp_path / f"container{len(started)}"
        mounts = {"/shared": shared} | dict(mounts)
        if configuration:
            directory = place / "configuration"
            directory.mkdir(parents=True)
            (directory / "martlet.yaml").write_text(configuration)
            mounts["/etc/martlet"] = directory
        started.append(running(Container(image, place, *arguments, mounts=mounts, **options)))
        return started[-1]

    yield start
    for one in started:
        print(f"--- {one.name}\n{one.stderr.text}\n{one.stdout.text}")


@pytest.fixture
def own(shared):
    """The image's own configuration, with Unix sockets in /shared for its listener and its upstream."""
    text = (ROOT / "etc/container.yaml").read_text()
    ours = text.replace("127.0.0.1:8080", "unix:/shared/rpc.sock").replace("http://127.0.0.1:3000", "unix:/shared/upstream.sock")
    assert ours.count("/shared/") == 2, "etc/container.yaml has changed its form"
    return ours
