"""A response without `date` gets the time at which it was received, which later ones of it keep (RFC 9110 §6.6.1)."""

from email.utils import parsedate_to_datetime
from time import time

import pytest
from cache.origin import FRESH

BODY = b"content-length: 4\r\n\r\nbody"


@pytest.mark.parametrize("control", [FRESH, "cache-control: no-store"])
def test_of_an_upstream_that_has_none(cached, recorder, control):
    upstream = recorder(lambda request: f"HTTP/1.1 200 OK\r\n{control}\r\n".encode() + BODY)
    with cached(upstream).http() as http:
        dates = [http.get("/").headers["date"] for _ in range(2)]
    if control == FRESH:
        assert dates[0] == dates[1]
    assert dates[0].endswith(" GMT")
    assert abs(parsedate_to_datetime(dates[0]).timestamp() - time()) < 30


def test_that_of_the_upstream_stays(cached, recorder):
    date = "Sun, 06 Nov 1994 08:49:37 GMT"
    upstream = recorder(lambda request: f"HTTP/1.1 200 OK\r\ndate: {date}\r\nexpires: {date}\r\n".encode() + BODY)
    with cached(upstream).http() as http:
        assert http.get("/").headers.get_list("date") == [date]
