"""The Debian package on a bare Debian: apt installs, upgrades, downgrades, removes and purges it."""

import re
import shutil
import threading
import time
from http.client import HTTPException

import pytest

from conftest import SUITES
from support.callers import Callers, call
from support.http1.recorder import Recorder
from support.wait import eventually
from machine.debian import Debian
from machine.package import NEW_KEY, Installation, build_two
from machine.service import Service, responses

# The first test waits until two packages are made.
pytestmark = pytest.mark.timeout(300)
NEW_FILE = responses() + f"  - validate: {{ max_retries: 1, rules: [{{ use: default, {NEW_KEY}: {{ 503: 100ms }} }}] }}\n"
CHUNKS = 8
INSTANCE = responses(listen="unix:/run/martlet/orders/rpc.sock")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build_two(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="module", params=SUITES)
def bare(request, tmp_path_factory):
    machine = Debian(request.param, tmp_path_factory.mktemp(request.param), bare=True)
    yield machine
    machine.stop()


@pytest.fixture
def package(bare, built):
    """The packages, of which none is installed. This process is in the network of the machine."""
    installation = Installation(bare, *built)
    with bare.network():
        yield installation
    bare.run("dpkg --purge martlet", check=False)
    shutil.rmtree(bare.path("/etc/systemd/system/martlet.service.d"), ignore_errors=True)


@pytest.fixture
def service(bare):
    return Service(bare)


def only_on(bare, suite):
    """What is the same on every system is tested on one: the tests take long."""
    if bare.suite != suite:
        pytest.skip(f"tested on {suite}")


def use(service, text):
    """Has the service run with this file."""
    service.machine.write(service.file, text, 0o640)
    service.control("reload", check=True)


def test_it_runs_after_the_installation(package, bare, service, capsys):
    package.install(package.later)
    assert package.version() == "installed 7.1.0-1"
    assert service.state == "active" and service.show("UnitFileState") == "enabled"
    assert bare.run("systemctl is-enabled martlet.socket", check=False).stdout.strip() == "disabled"
    assert bare.run("stat --format='%A %U:%G' /etc/martlet/martlet.yaml").stdout.strip() == "-rw-r----- root:_martlet"
    assert service.martlet("healthcheck").returncode == 0
    assert bare.run("dpkg --verify martlet").stdout == ""
    report = bare.run("systemd-analyze security --no-pager martlet.service").stdout
    exposure = float(re.search(r"Overall exposure level for martlet.service: ([\d.]+)", report)[1])
    with capsys.disabled():
        print(f"\n{bare.suite}: exposure level of martlet.service {exposure}")
    # The group of the callers costs 0.1.
    assert exposure <= 1.6


def test_an_upgrade_loses_no_call(package, bare, service, running, capsys):
    package.install(package.earlier)
    use(service, responses())
    orders = Service(bare, "martlet@orders.service", "/etc/martlet/orders.yaml")
    orders.configure(INSTANCE)
    orders.control("enable --now", check=True)
    before = service.pid, orders.pid
    callers = running(Callers())
    package.install(package.later)
    callers.stop()
    with capsys.disabled():
        print(f"\n{bare.suite}, upgrade: {callers}")
    assert callers.calls > 100 and callers.refused == callers.lost == 0, callers.errors
    assert package.version() == "installed 7.1.0-1"
    assert service.state == orders.state == "active"
    assert service.pid != before[0] and orders.pid != before[1]
    assert call() == (200, "ok"), "the file that was edited stays"
    assert bare.run("stat --format='%a %U:%G' /etc/martlet/martlet.yaml").stdout.strip() == "640 root:_martlet"


class Streams:
    """Calls whose responses last as long as the upstream takes to send `CHUNKS`, one begun each 100 ms until this stops."""

    def __init__(self):
        self.ended, self.errors = 0, []
        self._stopping = threading.Event()
        self._calls = []
        self._thread = threading.Thread(target=self._begin)
        self._thread.start()

    def _begin(self):
        while not self._stopping.wait(0.1):
            self._calls.append(threading.Thread(target=self._call))
            self._calls[-1].start()

    @property
    def begun(self):
        return len(self._calls)

    def begin(self, count):
        """Waits until so many more have begun."""
        before = self.begun
        eventually(lambda: self.begun >= before + count, within=30, what="calls")

    def _call(self):
        try:
            assert call() == (200, "x" * CHUNKS)
            self.ended += 1
        except (OSError, HTTPException, AssertionError) as error:
            self.errors.append(repr(error))

    def stop(self):
        self._stopping.set()
        self._thread.join()
        for one in self._calls:
            one.join(40)


def send_slowly(peer):
    """Responds to one request, for longer than the 5 s that a restart leaves to calls that begin during it."""
    peer.request()
    peer.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")
    for _ in range(CHUNKS):
        time.sleep(1)
        peer.send(b"1\r\nx\r\n")
    peer.send(b"0\r\n\r\n")


def test_an_upgrade_ends_no_long_stream(package, bare, service, running):
    only_on(bare, "bookworm")
    package.install(package.earlier)
    upstream = running(Recorder(script=send_slowly))
    use(service, f"listen: 127.0.0.1:8080\nupstream: {upstream.url}\n")
    before = service.pid
    streams = running(Streams())
    streams.begin(5)
    package.install(package.later)
    assert service.pid != before and service.show("NRestarts") == "0"
    streams.begin(5)
    streams.stop()
    assert (streams.errors, streams.ended) == ([], streams.begun)
    assert service.state == "active" and service.show("Result") == "success"


def test_a_service_that_cannot_be_upgraded_is_restarted(package, bare, service):
    only_on(bare, "bookworm")
    package.install(package.earlier)
    use(service, responses())
    before = service.pid
    # The process that would start the new one.
    pid = service.show("MainPID")
    bare.run(f"kill -KILL $(cat /proc/{pid}/task/{pid}/children)")
    result = package.install(package.later)
    assert "martlet: cannot upgrade martlet.service, so it is restarted" in result.stdout + result.stderr
    assert service.state == "active" and service.pid != before and call() == (200, "ok")


def test_who_could_call_can_call_after_an_upgrade(package, bare, service):
    """Before the group of callers, programs were in that of the service."""
    only_on(bare, "trixie")
    package.install(package.earlier)
    bare.run("useradd --groups _martlet app; groupdel _martlet-callers")
    try:
        result = package.install(package.later)
        assert "martlet: app is a member of _martlet, which can read" in result.stdout + result.stderr
        assert set(bare.run("id --name --groups app").stdout.split()) == {"app", "_martlet", "_martlet-callers"}
        service.machine.write(service.file, responses(listen="unix:/run/martlet/rpc.sock"), 0o640)
        service.control("restart", check=True)
        command = "curl --silent --fail --unix-socket /run/martlet/rpc.sock http://martlet/"
        assert bare.run(command, user="app").stdout == "ok"
    finally:
        bare.run("userdel app")


def test_a_service_that_was_disabled_stays_so(package, service):
    package.install(package.earlier)
    service.control("disable --now", check=True)
    package.install(package.later)
    assert service.state == "inactive" and service.show("UnitFileState") == "disabled"


def test_a_version_that_does_not_accept_the_file_is_not_installed(package, service, running):
    package.install(package.later)
    use(service, NEW_FILE)
    pid = service.pid
    callers = running(Callers())
    result = package.install(package.earlier, check=False)
    assert result.returncode != 0
    output = result.stdout + result.stderr
    assert re.search(rf"/etc/martlet/martlet.yaml:\d+:\d+: .*{NEW_KEY}", output), output
    assert "this version does not accept the file of martlet.service" in output
    assert output.count(f"{NEW_KEY}") == 1, output
    assert package.version() == "installed 7.1.0-1"
    assert service.machine.run("dpkg --verify martlet").stdout.count("\n") == 1, "only the file that was edited differs"
    assert service.pid == pid and service.state == "active"
    callers.stop()
    assert callers.refused == callers.lost == 0, callers.errors
    # With the file of before, the same command works.
    use(service, responses(body="old"))
    package.install(package.earlier)
    assert package.version() == "installed 7.0.0-1" and service.state == "active" and service.pid != pid
    assert call() == (200, "old")


@pytest.mark.parametrize("place", ["Environment=PLACE=127.0.0.1:3000", "EnvironmentFile=/etc/martlet/environment"])
def test_the_check_knows_the_variables_of_the_service(package, service, place):
    package.install(package.earlier)
    service.machine.write("/etc/martlet/environment", '# Where.\nOTHER=a b\nPLACE="127.0.0.1:3000"\n')
    # Without those of the unit, too.
    service.drop_in(f"[Service]\nEnvironment=\n{place}\n")
    text = responses(more="log_level: info").replace("  - respond", '  - token: { env: PLACE }\n  - respond')
    service.configure(text)
    service.control("restart", check=True)
    package.install(package.later)
    assert package.version() == "installed 7.1.0-1" and service.state == "active"


def test_what_the_process_says_of_itself_does_not_count(package, bare, service):
    """A service that was taken over can change its environment, and the check runs as root."""
    package.install(package.earlier)
    bare.run("mkdir -p /var/lib/martlet/bin && printf '#!/bin/sh\\ntouch /run/hostile\\n' > /var/lib/martlet/bin/martlet")
    bare.run("chmod 755 /var/lib/martlet/bin/martlet")
    service.drop_in(
        "[Service]\nExecStart=\nExecStart=/usr/bin/env PATH=/var/lib/martlet/bin /usr/bin/martlet run -c /etc/martlet/martlet.yaml\n"
    )
    service.configure(responses())
    service.control("restart", check=True)
    package.install(package.later)
    assert bare.run("test -e /run/hostile", check=False).returncode != 0
    assert package.version() == "installed 7.1.0-1" and service.state == "active"


def test_a_service_that_failed_does_not_prevent_an_upgrade(package, service):
    package.install(package.earlier)
    service.configure(NEW_FILE)
    assert service.control("restart").returncode != 0
    package.install(package.later)
    assert package.version() == "installed 7.1.0-1" and service.state == "active"


def test_a_removed_package_leaves_its_files_and_a_purged_one_nothing(package, bare, service):
    before = package.files()
    assert not [name for name in before if "martlet" in name], "what another test left"
    package.install(package.later)
    use(service, responses(more="log_level: info").replace("  - metrics: {}", "  - metrics: {}\n  - log: { to: /var/log/martlet/access.log }"))
    assert call() == (200, "ok")
    orders = Service(bare, "martlet@orders.service", "/etc/martlet/orders.yaml")
    orders.configure(INSTANCE)
    orders.control("enable --now", check=True)
    pid = orders.pid
    bare.run("apt-get remove --yes martlet")
    assert service.state == "inactive" and not (bare.path("/proc").parent / f"proc/{pid}/exe").exists()
    assert bare.path("/etc/martlet/martlet.yaml").exists() and bare.path("/var/log/martlet/access.log").exists()
    package.install(package.later)
    assert call() == (200, "ok"), "it starts again with its file"
    bare.run("apt-get purge --yes martlet")
    assert package.files() - before == set()
    assert before - package.files() == set()
