"""The rule that no peer is stricter than Martlet: functions of what was seen, which return what is wrong, or None."""

import h11

from http1.hostile.reader import Unread, responses, responses_of_h11, path, requests, requests_of_h11

FRAMING = {b"content-length", b"transfer-encoding"}


def _essence(request):
    """What two proxies have to agree on."""
    method, target = request.start
    framing = request.framing if request.body else "none"
    fields = {(name, value.lower()) for name, value in request.fields if name not in FRAMING}
    return method, path(target), request.body, framing, fields


def _covers(theirs, mine):
    """Whether a request that a peer forwards is one that Martlet forwards, with all its fields."""
    *start, framing, fields = _essence(mine)
    *their_start, their_framing, their_fields = _essence(theirs)
    # A proxy that has read all chunks, as nginx may, knows their length.
    is_framed = framing == their_framing or (framing, their_framing) == ("chunked", "length")
    return start == their_start and is_framed and fields <= their_fields


def leniency(mine, peers):
    """What `mine` forwards that none of `peers` does; each is an outcome. To reject what follows is not leniency."""
    if not mine.requests:
        return None
    rejected_the_next = mine.statuses and mine.statuses[-1] in (400, 431, 501, 505)
    for peer in peers:
        is_as_many = len(peer.requests) == len(mine.requests)
        is_first_part = rejected_the_next and len(peer.requests) > len(mine.requests)
        if (is_as_many or is_first_part) and all(map(_covers, peer.requests, mine.requests)):
            return None
    return f"forwards {list(map(_essence, mine.requests))}, and nobody else does"


def ambiguity(pieces):
    """What is wrong with forwarded bytes, one piece for each connection."""
    for piece in pieces:
        try:
            ours = [(*one.start, one.fields, one.body, one.trailers) for one in requests(piece)]
            theirs = requests_of_h11(piece)
        except (Unread, h11.RemoteProtocolError) as error:
            return f"forwards {piece[:2000]!r}: {error}"
        if ours != theirs:
            return f"forwards {piece[:2000]!r}: read as {ours} and as {theirs}"
    return None


def response_ambiguity(data, methods):
    """What is wrong with the bytes that a caller got for requests of `methods`."""
    try:
        ours = [(one.start[0], one.body) for one in responses(data, methods) if one.is_whole]
        theirs = [(status, body) for status, body, is_whole in responses_of_h11(data, methods) if is_whole]
    except (Unread, h11.RemoteProtocolError) as error:
        return f"responses {data[:2000]!r}: {error}"
    return None if ours == theirs else f"responses {data[:2000]!r}: read as {ours} and as {theirs}"


def first_response(data, methods):
    """Status and body of the first whole response, if there is one that can be read."""
    try:
        found = responses(data, methods)
    except Unread:
        return None
    return (found[0].start[0], found[0].body) if found and found[0].is_whole else None
