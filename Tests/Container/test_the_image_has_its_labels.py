"""The image's labels, and the lines of its Dockerfile that other files repeat."""

import re

import dockerfile
from support.martlet import ROOT


def test_labels():
    label = {name.removeprefix("org.opencontainers.image."): value for name, value in dockerfile.LABELS.items()}
    version = re.search(r'number = "([^"]+)"', (ROOT / "Sources/Sidecar/Version.swift").read_text())[1]
    assert label["title"] == "Martlet" and label["version"] == version
    assert label["licenses"].startswith("Apache-2.0") and label["description"]


def test_the_user_is_a_number_and_not_root():
    assert dockerfile.USER[0] >= 1000


def test_the_health_check_needs_no_shell():
    assert dockerfile.HEALTHCHECK[0].startswith("/") and dockerfile.ENTRYPOINT[0].startswith("/")


def test_its_directory_for_sockets_is_a_volume():
    assert dockerfile.ENVIRONMENT["RUNTIME_DIRECTORY"] in dockerfile.VOLUMES
