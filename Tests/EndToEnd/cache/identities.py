"""Callers who are all different, and an upstream whose responses say for whom they are."""

import hashlib
import http.client
import random
from dataclasses import dataclass

from cache.origin import response

# What a response depends on at each path, and what it says of that: nothing, where only the rules for credentials keep it apart.
PATHS = {
    "/everybody": ((), ["cache-control: public, max-age=60"]),
    "/brief": ((), ["cache-control: public, max-age=60", "age: 59"]),
    "/tenant": (("x-tenant",), ["cache-control: public, max-age=60"]),
    "/token": (("x-tenant", "authorization"), ["cache-control: max-age=60"]),
    "/brief-token": (("x-tenant", "authorization"), ["cache-control: max-age=60", "age: 59"]),
    "/cookie": (("x-tenant", "cookie"), ["cache-control: max-age=60"]),
    "/session": (("x-tenant", "authorization", "cookie"), ["cache-control: public, max-age=60", "set-cookie: session=1"]),
    "/private": (("x-tenant", "authorization", "cookie"), ["cache-control: private, max-age=60"]),
    "/language": (("x-tenant", "accept-language"), ["cache-control: public, max-age=60", "vary: accept-language"]),
    "/both": (("x-tenant", "authorization", "x-a"), ["cache-control: max-age=60", "vary: x-a"]),
    "/all": (("x-tenant", "authorization", "accept-language", "x-a"), ["cache-control: public, max-age=60", "vary: x-a, accept-language, authorization"]),
}
VALUES = {
    "x-tenant": ["red", "blue"],
    "authorization": [None, None, "Bearer alice", "Bearer bob"],
    "cookie": [None, None, "session=alice", "session=bob"],
    "accept-language": [None, "de", "en"],
    "x-a": [None, "1", "2"],
}


def identity(path, fields):
    """The body for a caller with these fields, and its tag."""
    names, _ = PATHS[path]
    text = " ".join([path, *(f"{name}={fields.get(name)}" for name in names)])
    return text.encode(), f'"{hashlib.sha256(text.encode()).hexdigest()[:16]}"'


def send(request):
    """The response of the upstream. The token that Martlet adds says the tenant again."""
    fields = dict(request.headers)
    if request.header("x-token") != f"Token {fields['x-tenant']}":
        return response(b"the token of another tenant", status=500)
    body, tag = identity(request.target, fields)
    own = [*PATHS[request.target][1], f"etag: {tag}"]
    if request.method == "GET" and request.header("if-none-match") and tag in request.header("if-none-match"):
        return response(b"", *own, status=304)
    return response(body, *own, method=request.method)


@dataclass
class Step:
    """One call and what may come back."""

    method: str
    path: str
    fields: dict

    @classmethod
    def random(cls, choose: random.Random):
        path = choose.choice(list(PATHS))
        fields = {name: value for name, values in VALUES.items() if (value := choose.choice(values))}
        method = choose.choices(["GET", "HEAD", "POST"], [90, 7, 3])[0]
        match choose.randrange(10):
            case 0:
                # A tag of anybody, known from elsewhere.
                other = {name: value for name, values in VALUES.items() if (value := choose.choice(values))}
                fields["if-none-match"] = identity(path, other)[1]
            case 1:
                fields["cache-control"] = choose.choice(["no-cache", "max-stale=100", "no-store", "max-age=0"])
            case 2:
                fields["range"] = "bytes=0-"
        return cls(method, path, fields)

    def problem(self, status, body, tag):
        """What is wrong with the response, or nothing."""
        own, own_tag = identity(self.path, self.fields)
        if tag != own_tag:
            return f"the tag of another: {tag}, not {own_tag}"
        if status == 304:
            return None if self.fields.get("if-none-match") == own_tag else "304 for another tag"
        if self.method == "HEAD":
            return None if (status, body) == (200, b"") else f"status {status}"
        if body != own:
            return f"the body of another: {body}"
        return None if status in (200, 206) else f"status {status}"


def call(connection: http.client.HTTPConnection, step):
    connection.request(step.method, step.path, headers=step.fields)
    got = connection.getresponse()
    return got.status, got.read(), got.headers.get("etag")
