"""An HTTP API that responds in JSON, and keeps the requests."""

import json

from support.http1.recorder import Recorder


def response(status=200, value=None, content_type="application/json", **fields):
    """A response: a value as JSON, or bytes as they are; underscores in the names of fields are hyphens."""
    body = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
    head = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}"]
    head += [f"content-type: {content_type}"] if content_type else []
    head += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([*head, "", ""]).encode() + body


class HTTPAPI(Recorder):
    """Responds to each request as `respond` says, which gets the request and its number, from 1."""

    def __init__(self, respond):
        super().__init__(response=lambda request: respond(request, len(self.requests)))

    @property
    def targets(self):
        return [request.target for request in self.requests]
