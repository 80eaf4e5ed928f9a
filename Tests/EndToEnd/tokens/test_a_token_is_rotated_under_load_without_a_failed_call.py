"""Twenty rotations under load: each call has one complete value, and none fails."""

import pytest

from support.wait import eventually
from tokens.token_file import Renamed, Swapped

# Long enough that a value read in the middle of a write would show.
VALUES = [f"token-{number:02}-" + "x" * 2000 for number in range(21)]


@pytest.mark.parametrize("kind", [Renamed, Swapped])
def test_rotation(martlet, recorder, load, tmp_path, kind):
    file = kind(tmp_path / "secrets", VALUES[0])
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - token: {{ file: {file.path} }}
        """
    )
    calls = load(proxy.address)
    for value in VALUES[1:]:
        file.change(value)
        eventually(lambda: upstream.requests and upstream.requests[-1].header("authorization") == f"Bearer {value}")
    calls.stop()
    assert calls.failures == [] and calls.calls >= 20
    seen = {request.header("authorization") for request in upstream.requests}
    assert seen <= {f"Bearer {value}" for value in VALUES}
