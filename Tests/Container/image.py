"""Makes the root file system of the image's last stage, without Docker."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import dockerfile
from support.martlet import BINARY, ROOT

CACHE = Path(os.environ.get("MARTLET_CACHE", "/var/cache/martlet-test"))


def run(*command):
    """Runs a command as root; its output is shown if it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def base():
    """A bare Debian with the image's packages; from the cache, if one with the same packages is there."""
    packages = ",".join(dockerfile.PACKAGES)
    name = hashlib.sha256(packages.encode()).hexdigest()[:12]
    place = CACHE / f"image-{dockerfile.SUITE}-{name}"
    if place.exists():
        return place
    CACHE.mkdir(parents=True, exist_ok=True)
    new = CACHE / f"{place.name}.{os.getpid()}"
    # From the mirror that this machine uses already; debootstrap has a default of its own.
    targets = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", f"Codename: {dockerfile.SUITE}")
    mirror = targets.split()[:1]
    try:
        run("debootstrap", "--variant=minbase", f"--include={packages}", dockerfile.SUITE, new, *mirror)
        run("chroot", new, "apt-get", "clean")
        new.rename(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return place


def make(place):
    """Makes the image's root file system at `place`: the base, and what the Dockerfile adds."""
    run("cp", "--archive", "--reflink=auto", base(), place)
    for command in dockerfile.COMMANDS:
        run("chroot", place, "sh", "-c", command)
    # What the first stage builds.
    built = {
        "/image/usr/bin/martlet": BINARY,
        "/image/usr/share/doc/martlet/nghttp2.COPYING": ROOT / ".build/licences/nghttp2.COPYING",
        "/image/usr/share/doc/martlet/upb.LICENSE": ROOT / ".build/licences/upb.LICENSE",
    }
    for *options, source, target in dockerfile.COPIES:
        source = built[source] if options else ROOT / source
        assert source.exists(), f"{source} is missing: NGHTTP2=source make build"
        target = Path(place) / target.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        run("cp", "--recursive", source, target)
    run("strip", Path(place) / "usr/bin/martlet")
    return Path(place)
