"""A steady small call allocates no more often than Benchmarks/chain/thresholds.json allows, whatever its chain contains."""

import sys

import pytest

from support.martlet import ROOT

sys.path.append(str(ROOT / "Benchmarks/chain"))
import chain  # noqa: E402

# The build of a program with a message hook is a part of the first test.
pytestmark = [pytest.mark.alone, pytest.mark.timeout(400)]

AGREED = chain.THRESHOLDS["allocations per call"]


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    chain.build()
    return chain.measure_allocations(tmp_path_factory.mktemp("chain"))


@pytest.mark.parametrize("interceptors", AGREED["http1"])
@pytest.mark.parametrize("work", AGREED)
def test_no_more_than_the_budget(counts, work, interceptors):
    assert counts[work, interceptors] <= AGREED[work][interceptors] + chain.STRAY
