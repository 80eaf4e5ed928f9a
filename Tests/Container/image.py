"""Makes the root file system of the image, without Docker: the stage `root` of the Dockerfile, and what the last stage copies of it."""

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


def built(directory):
    """Puts into `directory` what the stage `build` makes."""
    (directory / "usr/bin").mkdir(parents=True)
    run("strip", "-o", directory / "usr/bin/martlet", BINARY)
    documents = directory / "usr/share/doc/martlet"
    documents.mkdir(parents=True)
    for licence in ("nghttp2.COPYING", "upb.LICENSE"):
        source = ROOT / ".build/licences" / licence
        assert source.exists(), f"{source} is missing: NGHTTP2=source make build"
        shutil.copy(source, documents)
    (documents / "martlet.spdx.json").write_text(run(ROOT / "scripts/sbom", BINARY))


def make(place):
    """Makes the image's root file system at `place`."""
    stage = place.with_name("stage")
    run("cp", "--archive", "--reflink=auto", base(), stage)
    for *options, source, target in dockerfile.COPIES:
        target = stage / dockerfile.DIRECTORY.lstrip("/") / target if target[0] != "/" else stage / target.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if options:
            assert (options, source) == (["--from=build"], dockerfile.PLACE)
            built(target)
        else:
            run("cp", "--recursive", ROOT / source, target)
    for command in dockerfile.COMMANDS:
        run("chroot", stage, "sh", "-c", f"cd {dockerfile.DIRECTORY} && {command}")
    (stage / dockerfile.PLACE.lstrip("/")).rename(place)
    shutil.rmtree(stage)
    return place
