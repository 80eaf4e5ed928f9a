"""A program that `exec` starts may leave children behind: Martlet is PID 1 of the container, so it has to wait for them."""

import os

from calling import say
from support.http1.recorder import JSON, Recorder
from support.wait import eventually, settled

TOKENS = 20
# Two children outlive it: Martlet kills the one with the program's process group, the other ends by itself.
PROGRAM = """#!/shared/bin/sh
PATH=/shared/bin
(exec sleep 60) > /dev/null 2>&1 &
setsid sh -c 'touch /shared/away-$1; sleep 0.1; echo orphan >> /shared/orphans' sh "$1" > /dev/null 2>&1 &
until [ -e "/shared/away-$1" ]; do sleep 0.01; done
echo token-$1
"""


def test_no_zombie_is_left(container, own, shared, programs, running):
    program = shared / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    orphans = shared / "orphans"
    orphans.touch()
    orphans.chmod(0o666)
    upstream = running(Recorder(JSON, path=shared / "upstream.sock"))
    os.chmod(shared / "upstream.sock", 0o777)

    def configuration(number):
        token = f"token: {{ exec: {{ command: [/shared/program, '{number}'] }} }}"
        return own.replace("interceptors:", f"interceptors:\n  - {token}") + "\nsandbox: { write: [/shared] }\n"

    ours = container(configuration=configuration(0), mounts=programs).wait()
    for number in range(TOKENS):
        if number:
            (ours.mounts["/etc/martlet"] / "martlet.yaml").write_text(configuration(number))
            ours.kill("HUP")
            ours.stderr.wait(r" reloaded\b", count=number)
        response = say(shared)
        assert response.status_code == 200, response.text
        assert upstream.requests[-1].header("authorization") == f"Bearer token-{number}"
        eventually(lambda: len(orphans.read_text().split()) == number + 1, what="the end of the orphan")
    assert settled(lambda: [child for child in ours.children() if child[1] == "Z"]) == []
    assert ours.healthcheck() == 0
