"""The clock of an upstream may be centuries off; nothing of it ends the process."""

import pytest
from cache.origin import FRESH, response


@pytest.mark.parametrize("year", ["0001", "1601", "1700", "9999"])
@pytest.mark.parametrize("name", ["date", "expires", "last-modified"])
def test_it_goes_on(cached, recorder, year, name):
    field = f"{name}: Mon, 01 Jan {year} 00:00:00 GMT"
    control = [FRESH] if name == "date" else ["cache-control: public"]
    upstream = recorder(lambda request: response(b"body", *control, field))
    with cached(upstream, heuristic="10%", stale_if_error="10m").http() as http:
        for _ in range(3):
            assert http.get("/").text == "body"
