"""What is not surely the rest of the same version ends the response, as it ends without `resume`."""

import pytest

from resumes.download import KIB, TAG, Download, content, get, length, results, start

FILE = content(300 * KIB)
OTHER = content(300 * KIB, seed=2)
CUT = 100_000
REST = len(FILE) - CUT
OLD = "Mon, 02 Jan 2023 10:00:00 GMT"
SOON = "Mon, 02 Jan 2023 10:00:59 GMT"
LATER = "Mon, 02 Jan 2023 10:01:00 GMT"


def second(status, body, **fields):
    """Makes the second response another one; a field that is None is missing."""

    def respond(request, number, head, due):
        if number == 0:
            return head, due
        changed = {name.replace("_", "-"): value for name, value in fields.items()}
        return (status, head[1] | {"content-length": str(len(body))} | changed), body

    return respond


def part(first=CUT, last=len(FILE) - 1, total=len(FILE)):
    return f"bytes {first}-{last}/{total}"


CHANGED = {
    "another version": (200, OTHER, {"etag": '"v2"', "content_range": None}),
    "a weak tag": (200, FILE, {"etag": "W/" + TAG, "content_range": None}),
    "another length": (200, FILE[:-1], {"content_range": None}),
    "part of another version": (206, OTHER[CUT:], {"etag": '"v2"'}),
    "part of something longer": (206, FILE[CUT:], {"content_range": part(total=len(FILE) + 1)}),
    "nothing left": (416, b"", {"content_range": "bytes */1000"}),
}
REJECTED = {
    "a version without a tag": (200, OTHER, {"etag": None, "content_range": None}),
    "part without a tag": (206, FILE[CUT:], {"etag": None}),
    "a part that begins earlier": (206, FILE[CUT - 1 :], {"content_range": part(first=CUT - 1)}),
    "a part that begins later": (206, FILE[CUT + 1 :], {"content_range": part(first=CUT + 1)}),
    "a part that ends earlier": (206, FILE[CUT:-1], {"content_range": part(last=len(FILE) - 2)}),
    "a part of unknown length": (206, FILE[CUT:], {"content_range": f"bytes {CUT}-{len(FILE) - 1}/*"}),
    "a part of no range": (206, FILE[CUT:], {"content_range": None}),
    "another unit": (206, FILE[CUT:], {"content_range": part().replace("bytes", "pages")}),
    "several parts": (206, FILE[CUT:], {"content_type": "multipart/byteranges; boundary=x"}),
    "another coding": (206, FILE[CUT:], {"content_encoding": "gzip"}),
    "a length of its own": (206, FILE[CUT:-5], {}),
    "an error": (500, b"later", {"etag": None, "content_range": None}),
    "not modified": (304, b"", {"content_range": None, "content_length": None}),
}
CASES = [(*case, "changed") for case in CHANGED.values()] + [(*case, "rejected") for case in REJECTED.values()]


def is_broken_off(proxy, upstream, *fields):
    head, body = get(proxy, *fields)
    assert head.startswith(b"HTTP/1.1 200 ") and length(head) == len(FILE)
    # A reset may overtake bytes on the way to the caller, but none are of another version.
    assert len(body) <= CUT and body == FILE[: len(body)]


@pytest.mark.parametrize("status, body, fields, result", CASES, ids=[*CHANGED, *REJECTED])
def test_another_response(martlet, running, status, body, fields, result):
    upstream = running(Download(FILE, cuts=[CUT], respond=second(status, body, **fields)))
    proxy = start(martlet, upstream)
    is_broken_off(proxy, upstream)
    assert len(upstream.requests) == 2
    assert results(proxy) == {result: 1}
    record = proxy.stdout.wait('"trace"').string
    assert '"verdict":"resume_skipped"' in record and "in the middle of the response" in record


@pytest.mark.parametrize(
    "fields",
    [
        {"etag": None},
        {"etag": "W/" + TAG},
        {"etag": "v1"},
        {"etag": None, "last-modified": OLD},
        {"etag": None, "last-modified": OLD, "date": SOON},
        {"etag": None, "last-modified": LATER, "date": OLD},
        {"etag": "W/" + TAG, "last-modified": OLD, "date": LATER},
    ],
    ids=["none", "weak", "no tag", "no date", "a change just before", "a change to come", "weak with a date"],
)
def test_without_a_strong_validator(martlet, running, fields):
    def respond(request, number, head, body):
        return (head[0], head[1] | fields), body

    upstream = running(Download(FILE, cuts=[CUT], respond=respond))
    proxy = start(martlet, upstream)
    is_broken_off(proxy, upstream)
    assert (len(upstream.requests), results(proxy)) == (1, {})


def test_a_date_may_be_a_strong_validator(martlet, running):
    def respond(request, number, head, body):
        dates = {"etag": None, "last-modified": OLD, "date": LATER}
        if number == 0:
            return (200, head[1] | dates), body
        rest = {"content-range": part(), "content-length": str(REST)}
        return (206, head[1] | dates | rest), FILE[CUT:]

    upstream = running(Download(FILE, cuts=[CUT], respond=respond))
    assert get(start(martlet, upstream))[1] == FILE
    assert upstream.ranges[1] == (f"bytes={CUT}-", OLD)


def test_more_than_the_rest_in_chunks(martlet, running):
    def respond(request, number, head, body):
        if number == 0:
            return head, body
        body += b"more"
        chunks = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
        return (206, head[1] | {"content-length": None, "transfer-encoding": "chunked"}), chunks

    head, body = get(start(martlet, running(Download(FILE, cuts=[CUT], respond=respond))))
    assert length(head) == len(FILE)
    assert FILE.startswith(body) and len(body) < len(FILE)


def test_less_than_the_rest_in_chunks_breaks_off_again(martlet, running):
    def respond(request, number, head, body):
        if number != 1:
            return head, body
        body = body[:5000]
        chunks = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
        return (206, head[1] | {"content-length": None, "transfer-encoding": "chunked"}), chunks

    upstream = running(Download(FILE, cuts=[CUT], respond=respond))
    assert get(start(martlet, upstream))[1] == FILE
    assert upstream.ranges[2] == (f"bytes={CUT + 5000}-", TAG)


def test_the_version_changes_while_the_caller_waits(martlet, running):
    upstream = running(Download(FILE, cuts=[CUT]))

    def respond(request, number, head, body):
        upstream.body, upstream.tag = OTHER, '"v2"'
        return head, body

    upstream.respond = respond
    proxy = start(martlet, upstream)
    is_broken_off(proxy, upstream)
    assert results(proxy) == {"changed": 1}


@pytest.mark.parametrize("kind", ["POST", "HEAD", "connect", "GET with a body"])
def test_other_calls_are_left_alone(martlet, running, kind):
    upstream = running(Download(FILE, cuts=[CUT]))
    proxy = start(martlet, upstream)
    caller = proxy.connect()
    if kind == "connect":
        fields = "content-type: application/json\r\nconnect-protocol-version: 1\r\ncontent-length: 2\r\n\r\n{}"
        caller.send(f"POST /shop.v1.Shop/Get HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{fields}".encode())
    elif kind == "GET with a body":
        fields = "connection: close\r\ncontent-length: 2\r\n\r\n{}"
        caller.send(f"GET /file HTTP/1.1\r\nhost: a\r\n{fields}".encode())
    else:
        caller.send(f"{kind} /file HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".encode())
    caller.rest()
    assert (len(upstream.requests), results(proxy)) == (1, {})
