"""Distinct values for the places of a call that may have a credential, and an upstream that repeats what it gets."""

import base64
import json
import re
from dataclasses import replace
from urllib.parse import quote, urlencode

from support import protocol
from support.http2 import h2_peer

# The values of header fields, by their names.
FIELDS = {
    "authorization": "Bearer {}",
    "proxy-authorization": "Basic {}",
    "cookie": "id={}; theme=dark",
    "x-api-key": "{}",
    "x-auth-token": "{}",
    "x-auth-bin": "{}",
    "x-amz-security-token": "{}",
    "x-csrf-token": "{}",
    "x-ssn": "{}",
    "referer": "https://user:{}@shop.example/a?b=c",
    "x-original-url": "/login?access_token={}#id",
    "x-forwarded-uri": "/go?to=https%3A%2F%2Fh%2F%3Fcode%3D{}",
    "x-fragment": "https://shop.example/cb#access_token={}",
    "x-forwarded-user": "Bearer {}",
    "x-grant": "eyJhbGciOiJub25lIn0.{}.c2ln",
}
FORM = ["password", "client_secret", "refresh_token", "code", "assertion", "user[passwd]"]
PARAMETERS = ["access_token", "token", "key", "api_key", "X-Amz-Signature", "code", "password", "t%6Fken"]
RESPONSE_FIELDS = {
    "set-cookie": "id={}; secure",
    "x-auth-token": "{}",
    "location": "https://user:{}@shop.example/cb",
    "content-location": "/cb?code={}",
    "refresh": "0; url=/cb?token={}",
    "link": "<https://shop.example/cb?api_key={}>; rel=next",
    "trailer-x-session-id": "{}",
}
TRAILERS = {"x-auth-token": "{}", "x-session-id": "{}", "x-next": "https://user:{}@shop.example/cb", "x-words": "Bearer {}"}
# The fields that an upstream repeats.
REPEATED = ["authorization", "x-api-key", "x-ssn", "x-upstream-token", "x-program-key", "x-key-token", "cookie"]
FORM_TYPES = {"/form": "application/x-www-form-urlencoded", "/parts": "multipart/form-data; boundary=b1"}


class Honey:
    """Distinct values by their places."""

    def __init__(self):
        self.values = {}

    def __call__(self, place):
        return self.values.setdefault(place, f"h0ney{len(self.values):03}pot9")

    def found(self, text):
        return sorted(place for place, value in self.values.items() if any(each in text for each in spellings(value)))

    def fields(self, place, values):
        return {name: value.format(self(f"{place} {name}")) for name, value in values.items()}

    def form(self, place):
        return {"user": "ann"} | {name: self(f"{place} {name}") for name in FORM}

    def parts(self, place):
        """A form in parts, with the boundary b1."""
        fields = "".join(f'--b1\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in self.form(place).items())
        return f"{fields}--b1--\r\n"

    def query(self):
        return "&".join(f"{name}={self(f'query {name}')}" for name in PARAMETERS)


def spellings(value):
    yield from (value, value.encode().hex())
    for offset in range(3):
        yield base64.b64encode(b"\0" * offset + value.encode()).decode()[4 if offset else 0 :].rstrip("=")[:-2]


def with_sentence(caller, sentence):
    """A caller whose message has a sentence that is not to be shown."""
    if "json" in caller.content_type:
        payload = json.dumps({"sentence": sentence}).encode()
    elif caller.content_type == "text/plain":
        return caller
    else:
        payload = b"\x0a" + bytes([len(sentence)]) + sentence.encode()
    body = protocol.envelope(0, payload) if caller.content_type.split("/")[1].startswith(("connect+", "grpc")) else payload
    return replace(caller, body=base64.b64encode(body) if "text" in caller.content_type else body)


class RepeatingUpstream:
    """Responds to each request with an error that repeats what it got, in each protocol; and to some paths with forms."""

    def __init__(self, honey):
        self.honey = honey
        # What it knows, and the caller has not sent.
        self.known = [honey("token of another interceptor"), honey("client secret")]

    def words(self, target, header, body):
        got = [header(name) or "" for name in REPEATED]
        if "form" not in (header("content-type") or ""):
            plain = base64.b64decode(body) if "web-text" in (header("content-type") or "") else body
            got += [value.decode() for value in re.findall(rb"h0ney\d+pot9", plain)]
        return f"cannot accept {' or '.join([*got, *self.known])} with {target}"

    def response(self, target, header, body):
        """The status, the fields, the body and the trailers of a response."""
        fields = self.honey.fields("response", RESPONSE_FIELDS)
        trailers = self.honey.fields("trailer", TRAILERS)
        if type := FORM_TYPES.get(target):
            form = self.honey.parts("response part") if target == "/parts" else urlencode(self.honey.form("response form"))
            return 200, fields | {"content-type": type}, form.encode(), trailers
        words = self.words(target, header, body)
        kind = header("content-type") or ""
        error = {"code": "aborted", "message": words}
        end = {"grpc-status": "10", "grpc-message": quote(words, safe=" "), "grpc-status-details-bin": base64.b64encode(words.encode()).decode()}
        if kind.startswith("application/grpc"):
            fields["content-type"] = kind
            if kind == "application/grpc-web+proto":
                lines = "".join(f"{name}: {value}\r\n" for name, value in (end | trailers).items())
                return 200, fields, protocol.envelope(0x80, lines.encode()), {}
            return (200, fields, b"", end | trailers) if kind == "application/grpc" else (200, fields | end, b"", {})
        if kind.startswith("application/connect"):
            metadata = {name: [value] for name, value in trailers.items()}
            return 200, fields | {"content-type": kind}, protocol.envelope(2, json.dumps({"error": error, "metadata": metadata}).encode()), {}
        error["details"] = [{"type": "a.B", "value": base64.b64encode(words.encode()).decode().rstrip("="), "debug": {"words": words}}]
        return 409, fields | {"content-type": "application/json"}, json.dumps(error).encode(), trailers

    def http1(self, request):
        """For a recorder of HTTP/1.1."""
        status, fields, body, trailers = self.response(request.target, request.header, request.body)
        head = f"HTTP/1.1 {status} Response\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        if not trailers:
            return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        end = "".join(f"{name}: {value}\r\n" for name, value in trailers.items())
        return f"{head}transfer-encoding: chunked\r\n\r\n{len(body):x}\r\n".encode() + body + f"\r\n0\r\n{end}\r\n".encode()

    def http2(self, peer, stream):
        """For a recorder of HTTP/2."""
        peer.finish(stream)
        status, fields, body, trailers = self.response(stream.path, stream.header, bytes(stream.body))
        peer.headers(stream.id, h2_peer.response(status, *fields.items()), end=not body and not trailers)
        if body:
            peer.data(stream.id, body, end=not trailers)
        if trailers:
            peer.headers(stream.id, list(trailers.items()), end=True)
