"""A program that Martlet has started ends when Martlet ends."""

import os
import signal

import pytest

from support.wait import eventually

FAILED = b"HTTP/1.1 503 Any\r\ncontent-length: 0\r\n\r\n"
TOKEN = "token: {{ exec: {{ command: {command}, timeout: 600s }} }}"
RULE = "when: {{ status: 503 }}, retry: {{ after_task: {{ exec: {command}, timeout: 600s }} }}"
TASK = f"validate: {{{{ max_retries: 1, rules: [{{{{ {RULE} }}}}] }}}}"


def has_ended(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture
def start(martlet, recorder, tmp_path):
    """Starts a daemon with an interceptor whose program hangs; the number of its group is in a file."""

    def run(interceptor):
        number = tmp_path / "number"
        script = f"echo $$ > {number}.new; mv {number}.new {number}; sleep 600; true"
        proxy = martlet(
            f"""
            drain: {{ max: 1s }}
            listen: 127.0.0.1:0
            upstream: {recorder(FAILED).url}
            interceptors:
              - {interceptor.format(command=f'[/bin/sh, -c, "{script}"]')}
            """
        )
        return proxy, number

    return run


def group_in(number):
    eventually(number.exists, what="the program")
    group = int(number.read_text())
    assert os.getpgid(group) == group
    return group


def test_a_program_that_no_call_waits_for(start):
    proxy, number = start(TOKEN)
    group = group_in(number)
    proxy.signal(signal.SIGTERM)
    assert proxy.exit_code() == 0
    eventually(lambda: has_ended(group), what="the end of the program and of what it has started")


@pytest.mark.parametrize("interceptor", [TOKEN, TASK], ids=["for a token", "before a retry"])
@pytest.mark.parametrize("signals, code", [(1, 3), (2, 1)], ids=["drained", "at once"])
def test_a_program_that_a_call_waits_for(start, interceptor, signals, code):
    proxy, number = start(interceptor)
    caller = proxy.connect()
    caller.send(b"PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n")
    group = group_in(number)
    proxy.signal(signal.SIGTERM)
    if signals == 2:
        proxy.stderr.wait("draining")
        proxy.signal(signal.SIGTERM)
    # The call is cut off.
    assert proxy.exit_code() == code
    eventually(lambda: has_ended(group), what="the end of the program and of what it has started")
