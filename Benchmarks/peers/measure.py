"""One round of one case with one proxy: start, check, warm up, measure, stop."""

import resource
import time
from dataclasses import replace

import floor
from cases import UNTRANSLATED
from check import check_proxy
from load import drive, warm_up
from peers import AUTHORIZED, PEERS
from process import Failed, busy_seconds
from quiet import Theft


def fields_for(peer):
    """What callers send for the proxy to take away."""
    return {"x-internal": "1"} if peer.removes else {}


class Clock:
    """What a proxy uses from now on, and what others do who are neither it nor load nor backend."""

    def __init__(self, process, stage):
        self.process, self.stage, self.theft = process, stage, Theft()
        self.wall, self.all, self.proxy, self.ours = self._read()

    def _read(self):
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        ours = children.ru_utime + children.ru_stime + sum(each.cpu_seconds() for each in self.stage.backends)
        return time.monotonic(), busy_seconds(), self.process.cpu_seconds(), ours

    def stop(self, calls):
        """CPU µs per call, and what others used and the host took, in percent of a core."""
        wall, everybody, proxy, ours = self._read()
        others = everybody - self.all - (proxy - self.proxy) - (ours - self.ours)
        return {
            "cpu": (proxy - self.proxy) * 1e6 / calls,
            "others": 100 * max(0, others) / (wall - self.wall),
            "stolen": self.theft.percent(),
        }


def measure(case, peer, stage, seconds, fields=None):
    """CPU µs per call of the whole process tree, calls per second, and µs of latency where the rate is fixed.

    The caller sends `fields`; where there are none, the peer does the whole job, and that is checked.
    """
    return stage.quiet.round(lambda: measure_once(case, peer, stage, seconds, fields))


def measure_once(case, peer, stage, seconds, fields):
    """One try at a round, on a quiet machine or not."""
    process, port = peer.start(case, stage)
    try:
        served_by, fields = (None, fields) if fields else (peer.name, fields_for(peer))
        check_proxy(case, port, fields, served_by)
        rate = warm_up(case, port, fields, stage)
        clock = Clock(process, stage)
        figures = drive(case, port, fields, seconds, stage, rate)
        return figures | clock.stop(figures["calls"])
    finally:
        process.stop()


def measure_direct(case, stage, seconds):
    """The same calls without a proxy, to see what one adds to their latency."""
    port = stage.port(case)

    def once():
        rate = warm_up(case, port, AUTHORIZED, stage)
        theft = Theft()
        return drive(case, port, AUTHORIZED, seconds, stage, rate) | {"stolen": theft.percent()}

    return stage.quiet.round(once)


def in_turn(case, names, stage, seconds, rounds, tell, peers=PEERS):
    """Rounds in which the proxies take turns: {name: figures} or {name: {"problem": why}}."""
    samples, results = {name: [] for name in names}, {}
    for number in range(rounds):
        for name in names:
            if name in results:
                continue
            try:
                if name == "direct":
                    found = measure_direct(case, stage, seconds)
                elif name == floor.NAME:
                    found = measure(case, floor.Floor(), stage, seconds, AUTHORIZED)
                elif name == UNTRANSLATED:
                    found = measure(replace(case, speaks=""), PEERS["martlet"], stage, seconds)
                else:
                    found = measure(case, peers[name], stage, seconds)
                samples[name].append(found)
                told = ", ".join(f"{key} {value:.1f}" for key, value in found.items() if key in ("cpu", "rate", "p50", "p99", "stolen"))
                tell(f"{case.name} {number + 1} {name}: {told}")
            except Failed as failure:
                results[name] = {"problem": str(failure)}
                tell(f"{case.name} {number + 1} {name}: {failure}")
    for name in names:
        if name not in results:
            results[name] = summary(samples[name], steady=bool(case.rate))
    return results


def summary(samples, steady):
    """The least of the rounds at full load, where other work on the machine only adds; at a fixed rate it also makes
    a proxy find more to do at a time, and the median counts."""
    figures = {}
    for key in samples[0]:
        values = sorted(sample[key] for sample in samples)
        best = values[-1] if key == "rate" else values[0]
        figures[key] = (values[(len(values) - 1) // 2] if steady else best)
    for key, name in (("cpu", "rounds"), ("others", "others"), ("stolen", "stolen")):
        if key in samples[0]:
            figures[name] = [round(sample[key], 2) for sample in samples]
    return figures
