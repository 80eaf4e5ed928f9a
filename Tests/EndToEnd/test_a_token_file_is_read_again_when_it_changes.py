"""However the file is replaced, the next calls carry the new value; no reload is needed."""

import pytest

from support.patience import eventually
from support.token_file import Late, Renamed, Rewritten, Swapped


@pytest.mark.parametrize("kind", [Rewritten, Renamed, Swapped, Late])
def test_new_value(martlet, recorder, tmp_path, kind):
    file = kind(tmp_path / "secrets", "first")
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - token: {{ file: {file.path}, on_failure: continue }}
        """
    )
    with proxy.http() as http:

        def sent():
            http.get("/")
            return upstream.requests[-1].header("authorization")

        assert sent() == (None if kind is Late else "Bearer first")
        for value in ["second", "third"]:
            file.change(value)
            eventually(lambda: sent() == f"Bearer {value}", what=f"the {value} value")
