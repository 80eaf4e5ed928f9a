"""Reads HTTP/1.1 as strictly as RFC 9112 has it, and asks h11 whether it reads the same."""

import re
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

import h11

TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
REQUEST_LINE = re.compile(rb"(" + TOKEN + rb") (/[\x21-\x7e\x80-\xff]*|\*) HTTP/1\.1")
STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-9][0-9][0-9]) ([\t\x20-\x7e\x80-\xff]*)")
FIELD = re.compile(rb"(" + TOKEN + rb"):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*")
CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")
MAX_HEAD = 1 << 20
NOT_IN_TRAILERS = {b"content-length", b"transfer-encoding", b"host", b"connection", b"trailer"}
UNRESERVED = re.compile(rb"%(2[dDeE]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe])")


class Unread(Exception):
    """These bytes are no message, or could be read as another one."""


class Incomplete(Exception):
    """The message is not complete."""


@dataclass
class Read:
    """One message. `start` is the first line's method and target, or its status."""

    start: tuple
    fields: list
    framing: str = "none"
    body: bytes = b""
    trailers: list = field(default_factory=list)
    is_whole: bool = True

    def values(self, name):
        return [value for own, value in self.fields if own == name]


def _require(condition, what):
    if not condition:
        raise Unread(what)


def _section(data, position, is_strict):
    """The lines up to the empty one, and where what follows begins."""
    end = data.find(b"\r\n\r\n", position)
    if data.startswith(b"\r\n", position):
        return [], position + 2
    if end < 0:
        raise Incomplete
    lines = data[position:end].split(b"\r\n")
    if is_strict:
        for line in lines:
            _require(not re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", line), f"a control byte in {line[:80]!r}")
    return lines, end + 4


def _fields(lines, is_strict):
    fields = []
    for line in lines:
        match = FIELD.fullmatch(line)
        if is_strict:
            _require(match, f"no field: {line[:80]!r}")
        name, value = match.groups() if match else (line.partition(b":")[0], line.partition(b":")[2].strip())
        fields.append((name.lower(), value))
    return fields


def _framing(message, is_strict):
    lengths, codings = message.values(b"content-length"), message.values(b"transfer-encoding")
    if is_strict:
        _require(len(lengths) + len(codings) < 2, "more than one field frames it")
    if codings:
        _require(codings[-1].lower() == b"chunked", f"coding {codings!r}")
        return "chunked", None
    if lengths:
        _require(re.fullmatch(rb"[0-9]{1,19}", lengths[0]), f"length {lengths!r}")
        return "length", int(lengths[0])
    return "none", 0


def _chunks(data, position, message, is_strict):
    while True:
        end = data.find(b"\r\n", position)
        if end < 0:
            raise Incomplete
        line = data[position:end] if is_strict else data[position:end].partition(b";")[0].strip()
        _require(CHUNK_SIZE.fullmatch(line), f"chunk size {line[:80]!r}")
        size, position = int(line, 16), end + 2
        if not size:
            break
        message.body += data[position : position + size]
        if len(data) < position + size + 2:
            raise Incomplete
        _require(data[position + size : position + size + 2] == b"\r\n", "no line end after a chunk")
        position += size + 2
    lines, position = _section(data, position, is_strict)
    message.trailers = _fields(lines, is_strict)
    if is_strict:
        _require(not {name for name, _ in message.trailers} & NOT_IN_TRAILERS, f"trailers {message.trailers!r}")
    return position


def _body(data, position, message, is_strict, until_the_end=False):
    if until_the_end:
        message.framing, message.body = "end", data[position:]
        return len(data)
    message.framing, length = _framing(message, is_strict)
    if message.framing == "chunked":
        return _chunks(data, position, message, is_strict)
    message.body = data[position : position + length]
    if len(message.body) < length:
        raise Incomplete
    return position + length


def next_request(data, position=0, is_strict=True):
    """The request that begins at `position`, and where it ends. Where it is not strict, it only follows the framing."""
    lines, position = _section(data, position, is_strict)
    _require(lines, "an empty line before a request")
    if is_strict:
        match = REQUEST_LINE.fullmatch(lines[0])
        _require(match, f"request line {lines[0][:80]!r}")
        start = match.groups()
    else:
        method, _, rest = lines[0].partition(b" ")
        start = (method, rest.rpartition(b" ")[0])
    message = Read(start, _fields(lines[1:], is_strict))
    if is_strict:
        _require(len(message.values(b"host")) == 1, "not one host")
    return message, _body(data, position, message, is_strict)


def requests(data, is_strict=True):
    """All whole requests in `data`; an incomplete last one does not count."""
    found, position = [], 0
    while position < len(data):
        try:
            message, position = next_request(data, position, is_strict)
        except Incomplete:
            break
        found.append(message)
    return found


def responses(data, methods):
    """The responses in `data`, all that was sent until the connection ended, to requests of `methods`."""
    found, position, methods = [], 0, list(methods)
    while position < len(data):
        message = Read((0,), [], is_whole=False)
        try:
            lines, position = _section(data, position, True)
            match = STATUS_LINE.fullmatch(lines[0] if lines else b"")
            _require(match, f"status line {lines[:1]!r}")
            message.start, message.fields = (int(match[1]),), _fields(lines[1:], True)
            _require(len(message.values(b"content-length") + message.values(b"transfer-encoding")) < 2, "framed twice")
            status = message.start[0]
            has_body = status >= 200 and status not in (204, 304) and methods[:1] != [b"HEAD"]
            if status < 200 or status == 204:
                framed = message.values(b"content-length") + message.values(b"transfer-encoding")
                _require(not framed, f"framing of a {status}")
            if has_body:
                is_framed = message.values(b"content-length") or message.values(b"transfer-encoding")
                position = _body(data, position, message, True, until_the_end=not is_framed)
            message.is_whole = True
        except Incomplete:
            position = len(data)
        if message.is_whole and status < 200:
            continue
        _require(methods or not message.is_whole, "more responses than requests")
        methods = methods[1:]
        found.append(message)
    return found


def requests_of_h11(data):
    """The same as `requests`, by h11."""
    parser = h11.Connection(h11.SERVER, MAX_HEAD)
    parser.receive_data(data)
    found, request, body = [], None, b""
    while True:
        event = parser.next_event()
        if isinstance(event, h11.Request):
            request, body = event, b""
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            trailers = [tuple(map(bytes, pair)) for pair in event.headers]
            fields = [tuple(map(bytes, pair)) for pair in request.headers]
            found.append((bytes(request.method), bytes(request.target), fields, body, trailers))
            parser.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
            parser.send(h11.EndOfMessage())
            if parser.our_state is h11.MUST_CLOSE:
                assert not parser.trailing_data[0], "bytes behind a last request"
                return found
            parser.start_next_cycle()
        else:
            return found


def responses_of_h11(data, methods):
    """The same as `responses`, by h11: (status, body, whether it is whole)."""
    found, rest = [], data
    for method in methods:
        if not rest:
            break
        parser = h11.Connection(h11.CLIENT, MAX_HEAD)
        parser.send(h11.Request(method=method, target="/", headers=[("host", "-")]))
        parser.send(h11.EndOfMessage())
        parser.receive_data(rest)
        parser.receive_data(b"")
        status, body, is_whole = 0, b"", False
        try:
            while not is_whole:
                event = parser.next_event()
                if isinstance(event, h11.Response):
                    status = event.status_code
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    is_whole = True
        except h11.RemoteProtocolError as error:
            if not re.search("closed|ConnectionClosed", str(error)):
                raise  # anything else than an end before the end
        found.append((status, body, is_whole))
        rest = bytes(parser.trailing_data[0]) if is_whole else b""
    return found


def path(target):
    """A target without what may be written in several ways (RFC 3986 §6.2.2, RFC 9112 §3.2.2)."""
    if match := re.fullmatch(rb"(?i:https?)://[^/?#]*(.*)", target, re.DOTALL):
        target = match[1] if match[1].startswith(b"/") else b"/" + match[1]
    target, question, query = target.partition(b"?")
    target = UNRESERVED.sub(lambda match: unquote_to_bytes(match[0]), target)
    segments = target.split(b"/")
    kept = []
    for segment in segments[1:]:
        if segment == b"..":
            del kept[-1:]
        elif segment != b".":
            kept.append(segment)
    if segments[-1] in (b".", b".."):
        kept.append(b"")
    if target.startswith(b"/"):
        target = b"/" + b"/".join(kept)
    return target + question + UNRESERVED.sub(lambda match: unquote_to_bytes(match[0]), query)
