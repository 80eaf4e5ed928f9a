"""Pairs of a caller and an upstream, with Martlet between them."""

import itertools

import pytest
from support.martlet import Martlet

from conformance.callers import CALLERS
from conformance.service import DESCRIPTOR_SET
from conformance.upstreams import UPSTREAMS


class Pair:
    """A caller of one kind, which calls an upstream of one kind through Martlet."""

    def __init__(self, names, caller, upstream, proxy):
        self.names, self.caller, self.upstream, self.proxy = names, caller, upstream, proxy
        self._numbers = itertools.count()

    def open(self, method, fields=(), timeout=None):
        """Begins a call; `call.name` is what the upstream knows it by."""
        name = f"{self.names} {next(self._numbers)}"
        call = self.caller.open(method, [*fields, ("x-call", name)], timeout)
        call.name = name
        return call

    def call(self, method, *requests, fields=(), timeout=None):
        """Makes a whole call that is not full-duplex; returns its responses and its outcome."""
        call = self.open(method, fields, timeout)
        for request in requests:
            call.send(request)
        call.end()
        responses = list(iter(call.receive, None))
        return responses, call.outcome()


class Pairs:
    """Starts what pairs need, when one first needs it."""

    def __init__(self, directory):
        self._directory = directory
        self._started = {}

    def _once(self, name, make):
        if name not in self._started:
            self._started[name] = make()
        return self._started[name]

    def _martlet(self, name, upstream):
        directory = self._directory / name
        directory.mkdir()
        types = directory / "conformance.binpb"
        types.write_bytes(DESCRIPTOR_SET)
        return Martlet(
            f"""
            listen: 127.0.0.1:0
            upstreams: {{ default: {{ url: "{upstream.url}", {upstream.settings} }} }}
            types: {{ files: {types} }}
            """,
            directory,
        )

    def __call__(self, caller, upstream):
        name = f"{caller} to {upstream}"
        server = self._once(upstream, UPSTREAMS[upstream])
        proxy = self._once(f"martlet-{upstream}", lambda: self._martlet(upstream, server))
        make, *arguments = CALLERS[caller]
        own = self._once(name, lambda: make(proxy.url, *arguments))
        return self._once(f"pair {name}", lambda: Pair((caller, upstream), own, server, proxy))

    def stop(self):
        for thing in reversed(self._started.values()):
            if not isinstance(thing, Pair):
                thing.stop()


@pytest.fixture(scope="session")
def pairs(binary, tmp_path_factory):
    """Makes the pair of two names."""
    pairs = Pairs(tmp_path_factory.mktemp("conformance"))
    yield pairs
    pairs.stop()


@pytest.fixture
def pair(request, pairs):
    """The pair of a parameter, two names."""
    pair = pairs(*request.param)
    yield pair
    print(f"--- martlet {pair.proxy.pid}\n{pair.proxy.stderr.text}")
