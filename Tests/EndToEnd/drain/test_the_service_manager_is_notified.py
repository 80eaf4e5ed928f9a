"""READY, RELOADING with its time, READY again also after a rejected file, STOPPING, and the watchdog's keep-alives."""

import os
import signal
import time

import pytest

pytestmark = pytest.mark.alone

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:80\n"


@pytest.mark.parametrize("abstract", [False, True], ids=["path", "abstract"])
def test_the_life_of_a_service(martlet, notify, abstract):
    manager = notify(f"@martlet-test-notify-{os.getpid()}" if abstract else None)
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    proxy = martlet(CONFIGURATION, environment=manager.environment)
    assert manager.next("READY")["READY"] == "1"
    for configuration in [CONFIGURATION, "listn: 1\n"]:
        proxy.write(configuration)
        proxy.signal(signal.SIGHUP)
        reloading = manager.next("RELOADING")
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        assert reloading["RELOADING"] == "1" and before < int(reloading["MONOTONIC_USEC"]) <= now
        assert manager.next("READY")["READY"] == "1"
    proxy.signal(signal.SIGTERM)
    assert manager.next("STOPPING")["STOPPING"] == "1"
    assert proxy.exit_code() == 0


def test_a_manager_that_does_not_read_blocks_nothing(martlet, notify):
    manager = notify()
    manager.fill()
    proxy = martlet(CONFIGURATION, environment=manager.environment)
    for _ in range(20):
        proxy.reload()
    assert proxy.admin("/healthz").status_code == 200
    # Nothing of it is lost, nor out of order.
    assert manager.next("READY")["STATUS"] == "serving"
    for generation in range(2, 22):
        assert manager.next("RELOADING")["RELOADING"] == "1"
        assert manager.next("READY")["STATUS"] == f"serving, generation {generation}"
    proxy.signal(signal.SIGTERM)
    assert manager.next("STOPPING")["STOPPING"] == "1"
    assert proxy.exit_code() == 0


def test_the_watchdog(martlet, notify):
    manager = notify()
    # Only a shell that becomes the daemon knows its process id beforehand.
    through = ["sh", "-c", 'WATCHDOG_PID=$$ exec "$0" "$@"']
    martlet(CONFIGURATION, environment=manager.environment | {"WATCHDOG_USEC": "200000"}, through=through)
    manager.next("READY")
    began = time.monotonic()
    for _ in range(3):
        assert manager.next("WATCHDOG", within=2)["WATCHDOG"] == "1"
    assert time.monotonic() - began < 2.0


def test_a_watchdog_that_never_wakes(martlet, notify):
    manager = notify()
    through = ["sh", "-c", 'WATCHDOG_PID=$$ exec "$0" "$@"']
    proxy = martlet(CONFIGURATION, environment=manager.environment | {"WATCHDOG_USEC": str(2**63 - 1)}, through=through)
    assert manager.next("READY")["READY"] == "1"
    proxy.signal(signal.SIGTERM)
    assert proxy.exit_code() == 0


def test_a_watchdog_for_another_process(martlet, notify):
    manager = notify()
    proxy = martlet(
        CONFIGURATION, environment=manager.environment | {"WATCHDOG_USEC": "20000", "WATCHDOG_PID": str(os.getpid())}
    )
    began = time.monotonic()
    while time.monotonic() - began < 0.2:  # ten times as long as a keep-alive would take
        proxy.signal(signal.SIGHUP)
        manager.next("READY")
    assert not any("WATCHDOG" in datagram for datagram in manager.seen)
