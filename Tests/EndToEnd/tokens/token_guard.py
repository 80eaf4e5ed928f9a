"""The guard of the test services: verifies tokens, and keeps a ledger of the calls."""

import threading
import time
from collections import defaultdict

from joserfc import jwt
from joserfc.errors import JoseError


class Rejected(Exception):
    """The token is not valid; says why."""


class Ledger:
    """The result of each attempt of a call at the services, by the call's id: `processed`, or why it was rejected."""

    def __init__(self):
        self._lock = threading.Lock()
        self._calls = defaultdict(list)

    def note(self, call, what):
        with self._lock:
            self._calls[call].append(what)

    def of(self, call):
        with self._lock:
            return list(self._calls[call])

    def processed(self):
        """How many times each call was processed."""
        with self._lock:
            return {call: notes.count("processed") for call, notes in self._calls.items()}

    def rejections(self):
        with self._lock:
            return [note for notes in self._calls.values() for note in notes if note != "processed"]


class Guard:
    """Accepts tokens of `provider` for `audience` that are not expired, without any leeway, and not revoked.

    With `lifespan`, it revokes each token so many seconds after it has first seen it, whatever the token says.
    """

    def __init__(self, provider, audience="services", lifespan=None):
        self.ledger = Ledger()
        self._provider = provider
        self._audience = audience
        self._lifespan = lifespan
        self._seen = {}

    def check(self, authorization):
        """The claims of the token in the header; raises Rejected."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Rejected("no token")
        try:
            claims = jwt.decode(token, self._provider.keys, algorithms=["RS256"]).claims
        except (JoseError, ValueError) as error:
            raise Rejected("no token of ours") from error
        audience = claims["aud"]
        if self._audience not in (audience if isinstance(audience, list) else [audience]):
            raise Rejected("for somebody else")
        if claims["generation"] < self._provider.generation:
            raise Rejected("revoked")
        if time.time() >= claims["exp"]:
            raise Rejected("expired")
        now = time.monotonic()
        if self._lifespan and now - self._seen.setdefault(token, now) >= self._lifespan:
            raise Rejected("revoked")
        return claims

    def admit(self, call, authorization):
        """As `check`, and notes a rejection."""
        try:
            return self.check(authorization)
        except Rejected as rejected:
            self.ledger.note(call, str(rejected))
            raise
