"""What upstreams of these tests send."""

import itertools
from email.utils import formatdate

FRESH = "cache-control: max-age=60"
# Stale after a second at most: the upstream says that the response has been on its way for long.
NEARLY_STALE = ("cache-control: max-age=60", "age: 59")


def http_date(seconds):
    """A moment as HTTP writes it."""
    return formatdate(seconds, usegmt=True)


def response(body=b"", *fields, status=200, method="GET"):
    """A response as it is on the wire, with a date if `fields` have none."""
    body = body if isinstance(body, bytes) else str(body).encode()
    lines = [f"HTTP/1.1 {status} Any", *fields]
    if not any(field.startswith("date:") for field in fields):
        lines.append(f"date: {formatdate(usegmt=True)}")
    has_body = status not in (204, 304)
    if has_body:
        lines.append(f"content-length: {len(body)}")
    head = "".join(f"{line}\r\n" for line in lines) + "\r\n"
    return head.encode() + (body if has_body and method != "HEAD" else b"")


def numbered(*fields, status=200):
    """Responds to each request with these fields, and with its number as the body: 1, 2, 3, …"""
    numbers = itertools.count(1)
    return lambda request: response(next(numbers), *fields, status=status, method=request.method)


def each(*responses):
    """Responds with one after the other, the last one again and again."""
    numbers = itertools.count()
    return lambda request: responses[min(next(numbers), len(responses) - 1)]
