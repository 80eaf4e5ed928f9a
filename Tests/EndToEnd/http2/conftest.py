"""Fixtures of the tests of HTTP/2."""

import pytest

from http2.attack import Attack
from support.http2.h2_recorder import response_ok


@pytest.fixture
def start_attack(martlet, h2_recorder, running):
    """Starts a daemon of one worker with a canary that calls it all the time."""

    def start(response=response_ok, limits="{}", timeouts="{}"):
        upstream = h2_recorder(response)
        listeners = f'[ {{ address: "127.0.0.1:0", limits: {limits}, timeouts: {timeouts} }} ]'
        return running(Attack(martlet(f"listeners: {listeners}\nupstream: {upstream.url}\nworkers: 1\n")))

    return start
