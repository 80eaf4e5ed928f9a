"""What has come on one stream of an HTTP/2 connection."""

from dataclasses import dataclass, field


@dataclass
class Stream:
    """What has come on one stream so far. Fields are pairs of bytes, in the order they had on the wire."""

    id: int
    heads: list = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    ended: bool = False
    reset: int | None = None
    frames: list = field(default_factory=list)
    beside: int = 0  # streams that were open when this one began, after the other side knew the limit

    @property
    def is_over(self):
        return self.ended or self.reset is not None

    @property
    def informational(self):
        return [head for head in self.heads if dict(head).get(b":status", b"").startswith(b"1")]

    @property
    def _final(self):
        return [head for head in self.heads if head not in self.informational]

    @property
    def fields(self):
        """The head, without trailers; empty when none has come yet."""
        return self._final[0] if self._final else []

    @property
    def trailers(self):
        return self._final[1] if len(self._final) > 1 else []

    def values(self, name):
        return [value for own, value in self.fields if own == name.encode()]

    def header(self, name):
        """The one value of a field, or None; several values are a failure."""
        values = self.values(name)
        assert len(values) < 2, f"{name} came {len(values)} times"
        return values[0].decode("latin-1") if values else None

    @property
    def status(self):
        return int(self.header(":status") or 0)

    @property
    def path(self):
        return self.header(":path")

    def grpc(self, name="grpc-status"):
        """A field of a gRPC status, in headers or trailers; None if there is no such field."""
        ends = [value.decode() for own, value in self.fields + self.trailers if own == name.encode()]
        assert len(ends) < 2, f"{name} came {len(ends)} times"
        return ends[0] if ends else None
