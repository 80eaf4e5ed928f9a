"""Fixtures: each starts things for a test and stops them after it, whatever became of the test."""

import os
import shutil
import signal
from contextlib import ExitStack

import pytest

from support.certificates import Authority
from support.http1.recorder import Recorder
from support.http2.h2_recorder import H2Recorder
from support.load import Load
from support.martlet import BINARY, Command, Martlet
from support.notify import Notify
from support.places import outside_of_scratch
from support.servers.nginx import Nginx

# Its fork handlers would run in a child that is about to become another program, and have ended some.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

# Where the tests are started in the background, these are ignored, and every program of a test would inherit that.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def pytest_collection_modifyitems(items):
    """Has the longest tests begin first, so that the end does not wait for them: they are those with more time than others."""
    items.sort(key=lambda item: -max((mark.args[0] for mark in item.iter_markers("timeout")), default=0))


@pytest.fixture(scope="session")
def binary():
    """The release binary; nothing is proved without one."""
    assert BINARY.exists(), f"{BINARY} is missing: build it or set MARTLET_BIN"
    return BINARY


@pytest.fixture
def running():
    """Starts a thing and stops it when the test ends; the last started stops first."""
    with ExitStack() as stack:

        def start(thing):
            stack.callback(thing.stop)
            return thing

        yield start


@pytest.fixture
def martlet(binary, running, tmp_path, request):
    """Starts the daemon with a configuration text. Its log is shown when the test fails.

    `upstream=` a URL is short for the smallest text, to which `more` may add lines.
    """
    started = []

    def start(configuration=None, upstream=None, more="", **options):
        configuration = configuration or f"listen: 127.0.0.1:0\nupstream: {upstream}\n{more}"
        directory = tmp_path if not started else tmp_path / f"martlet{len(started)}"
        started.append(running(Martlet(configuration, options.pop("directory", directory), **options)))
        return started[-1]

    yield start
    for one in started:
        print(f"--- martlet {one.pid}\n{one.stderr.text}\n{one.stdout.text}")


@pytest.fixture
def command(binary, running):
    """Runs the binary with arguments to its end; returns it with its exit code in `code`."""

    def run(*arguments, **options):
        program = running(Command(*arguments, **options))
        program.code = program.exit_code()
        program.stop()
        return program

    return run


@pytest.fixture
def installed():
    """A directory for programs and configurations that a daemon in a sandbox cannot change."""
    directory = outside_of_scratch()
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def recorder(running):
    """Starts an upstream that records every byte."""
    return lambda *arguments, **options: running(Recorder(*arguments, **options))


@pytest.fixture
def authority(tmp_path):
    """Makes an authority that signs certificates."""
    return lambda name="authority": Authority(tmp_path / "certificates", name)


@pytest.fixture
def h2_recorder(running):
    """Starts an HTTP/2 upstream that keeps every frame."""
    return lambda *arguments, **options: running(H2Recorder(*arguments, **options))


@pytest.fixture
def caller():
    """Makes callers of gRPC, each with a connection of its own."""
    from support.servers.replicas import Caller

    made = []

    def make(proxy):
        made.append(Caller(proxy))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def grpc_service(running):
    """Starts a gRPC server."""
    from support.servers.grpc_service import GrpcService

    return lambda *arguments, **options: running(GrpcService(*arguments, **options))


@pytest.fixture
def grpc_channel(running):
    """Connects the published gRPC client to a daemon."""
    from support.servers.grpc_service import GrpcChannel

    return lambda proxy, **options: running(GrpcChannel(proxy.addresses[0], **options))


@pytest.fixture
def nginx(running, tmp_path):
    """Starts nginx with the directives of one server block."""
    return lambda server="": running(Nginx(tmp_path / "nginx", server))


@pytest.fixture
def load(running):
    """Starts a constant load of calls."""
    return lambda *arguments, **options: running(Load(*arguments, **options))


@pytest.fixture
def notify(running, tmp_path):
    """Listens where a service manager would."""
    return lambda address=None: running(Notify(address or tmp_path / "notify.sock"))


@pytest.fixture
def start_eliza(running):
    """Starts a Connect server with a name of its own."""
    # Imported here, because making the messages costs a second that few tests need.
    from support.servers.eliza import Eliza

    return lambda name="Eliza": running(Eliza(name))


@pytest.fixture(scope="session")
def eliza():
    """A Connect server that many tests share."""
    from support.servers.eliza import Eliza

    server = Eliza()
    yield server
    server.stop()


@pytest.fixture
def identity_provider(running):
    """Starts an identity provider, with settings."""
    from support.servers.identity_provider import IdentityProvider

    return lambda **settings: running(IdentityProvider(**settings))