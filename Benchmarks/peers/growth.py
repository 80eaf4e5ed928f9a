"""How the cost of a call grows with what there is more of: connections, streams, routes, interceptors, bytes."""

from functools import partial

from alone import SMALL_GRPC, chain, table
from cases import Case
from measure import measure
from peers import AUTHORIZED, PEERS

# What grows, how the case follows from it, and the peer that is cheap to show beside Martlet.
SERIES = {
    "connections": ([1, 10, 100, 1000], lambda n: Case("growth", "", connections=n), "nginx"),
    "streams": ([1, 10, 100], lambda n: Case("growth", "", grpc=True, connections=1, streams=n), "nghttpx"),
    "routes": ([10, 100, 1000, 10000], lambda n: SMALL_GRPC, None),
    "interceptors": ([0, 5, 20, 40, 60], lambda n: Case("growth", ""), None),
    "bytes": ([64, 1024, 16384, 65536, 262144, 1 << 20], lambda n: Case("growth", "", size=n, connections=16), "nginx"),
}
VARIANTS = {"routes": table, "interceptors": chain}


def point(series, value, peer, stage, seconds):
    """CPU µs per call of one round."""
    case = SERIES[series][1](value)
    proxy, fields = (VARIANTS[series](value), AUTHORIZED) if series in VARIANTS else (PEERS[peer], None)
    return measure(case, proxy, stage, seconds, fields)["cpu"]


def measure_series(series, names, stage, seconds, rounds):
    """{proxy: {value: CPU µs}}, the least of rounds in which all of the series take turns."""
    found = {name: {} for name in names}
    for _ in range(rounds):
        for value in SERIES[series][0]:
            for name, least in found.items():
                cost = point(series, value, name, stage, seconds)
                least[str(value)] = min(cost, least.get(str(value), cost))
    return found


def everything(stage, seconds, rounds, wanted, peers):
    """What measures each series that is wanted, by its name."""
    for series, (_, _, peer) in SERIES.items():
        if wanted(f"growth-{series}"):
            shown = [name for name in ("martlet", peer) if name in peers]
            yield f"growth-{series}", partial(measure_series, series, shown, stage, seconds, rounds)
