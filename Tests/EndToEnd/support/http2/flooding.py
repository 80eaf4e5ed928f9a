"""An upstream that sends each call as much of a mebibyte as the windows allow, and `ok` to requests for /ok."""

from support.http2 import h2_peer

SIZE = 1 << 20


def flooding(h2_recorder):
    def script(peer):
        floods = {}
        while stream := upstream.next_stream(peer):
            peer.headers(stream.id, h2_peer.response())
            if stream.path == "/ok":
                peer.data(stream.id, b"ok", end=True)
            else:
                floods[stream.id] = SIZE
            for flooded, left in floods.items():
                if (size := min(peer.may_send(flooded), left)) > 0:
                    peer.data(flooded, bytes(size))
                    floods[flooded] -= size

    upstream = h2_recorder(script=script)
    return upstream
