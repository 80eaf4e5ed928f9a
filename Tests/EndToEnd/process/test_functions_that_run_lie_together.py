"""The release binary has the recorded order of functions: a daemon at rest has few pages of it in memory."""

from itertools import pairwise

from support.martlet import ROOT

ORDER = ROOT / "Benchmarks/profile/order.txt"


def test_their_order_is_the_recorded_one(readelf):
    symbols = [line.split() for line in readelf("--symbols").splitlines() if " FUNC " in line]
    places = {symbol[7]: int(symbol[1], 16) for symbol in symbols if len(symbol) > 7}
    recorded = ORDER.read_text().split()
    found = [places[name] for name in recorded if name in places]
    assert len(found) > len(recorded) / 2, "the recorded order is old; make profile records it anew"
    # Some have no section of their own, and several may have one name: in any other order, half of the steps lead backwards.
    assert sum(before <= after for before, after in pairwise(found)) > 0.8 * len(found)
