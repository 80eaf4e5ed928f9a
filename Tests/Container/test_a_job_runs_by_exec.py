"""The Job without a sidecar container: `martlet exec` in the program's own image, which has a copy of Martlet's image."""

import os

import pytest

import image
from pod import JOB_WITH_EXEC
from support.http1.recorder import JSON, Recorder

# Debian's bash can connect by itself.
PROGRAM = """#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/8080
printf 'POST /shop.v1.OrderService/Report HTTP/1.1\\r\\nhost: a\\r\\ncontent-type: application/json\\r\\n' >&3
printf 'content-length: 2\\r\\nconnection: close\\r\\n\\r\\n{}' >&3
IFS= read -r line <&3 && echo "$line"
exit 7
"""


@pytest.fixture
def program_image(root, tmp_path):
    """The program's image: Debian, the program, and `COPY --from=martlet / /opt/martlet`."""
    place = tmp_path / "image"
    image.run("cp", "--archive", "--reflink=auto", image.base(), place)
    image.run("cp", "--archive", "--reflink=auto", root, place / "opt/martlet")
    program = place / "usr/bin/report"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return place


def test_it_exits_with_the_code_of_the_program(container, program_image, tmp_path, shared, running):
    upstream = running(Recorder(JSON, path=shared / "upstream.sock"))
    os.chmod(shared / "upstream.sock", 0o777)
    (program,) = JOB_WITH_EXEC.pod["containers"]
    _, _, mounts = JOB_WITH_EXEC.mounts(tmp_path, address="127.0.0.1:8080")
    options = {"entry": program["command"], "environment": {}, "mounts": mounts, "read_only": True, "volumes": False}
    ours = container(image=program_image, **options)
    assert ours.exit_code() == 7
    assert ours.stdout.text.splitlines() == ["HTTP/1.1 200 OK"]
    assert [request.header("authorization") for request in upstream.requests] == ["Bearer first"]
