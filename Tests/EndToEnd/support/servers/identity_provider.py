"""The identity provider of the tests: where tokens come from, and how it fails."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
from joserfc import jwk

from support.martlet import CLEAR_TEXT
from support.program import Program
from support.wait import eventually

CLIENT = "martlet"
# Characters that have to be escaped in HTTP Basic (RFC 6749 §2.3.1) and in forms.
SECRET = "client secret/+%é"
ENVIRONMENT = {"CLIENT_SECRET": SECRET}


@dataclass
class Fetch:
    """A request for a token: when (time.monotonic), for what, with what, the status of its response (None: none yet), and by
    whom. `auth` is how the client has shown that, `expiry` when the token ends, in seconds since 1970."""

    at: float
    grant: str
    form: dict
    result: int | None
    client: str | None
    auth: str | None
    expiry: float | None


class IdentityProvider(Program):
    """The server, a separate program on two ports of 127.0.0.1.

    Settings: `lifetime` of tokens in seconds, and `lifetimes` by client; `latency` in seconds; `failure`, which is None,
    "500", "503", "429" (with `retry_after`), "json" that is none, "echo" of the client's secrets in an error, "hang" or
    "refuse"; `clients` with their secrets, `keys` as public JWKs; `subjects`, the subject tokens that are known beside its own.
    """

    def __init__(self, **settings):
        root = Path(__file__).parents[2]
        environment = {"PATH": os.environ["PATH"], "AUTHLIB_INSECURE_TRANSPORT": "1"}
        command = [sys.executable, "-m", "support.servers.identity_provider_service"]
        super().__init__(command, cwd=root, env=environment)
        urls = json.loads(self.stdout.wait(r"^\{.*\}$", within=30.0).string)
        self.url = urls["url"]
        self.token_url = f"{self.url}/token"
        self.login_url = f"{self.url}/login"
        self._control = httpx.Client(base_url=urls["control"], **CLEAR_TEXT, timeout=10)
        self.generation = self._ask("/control/generation")["generation"]
        self.keys = jwk.KeySet.import_key_set(self._ask("/control/jwks"))
        self.set(**settings)

    def _ask(self, path):
        return self._control.get(path).raise_for_status().json()

    def set(self, **settings):
        self._control.post("/control/settings", json=settings).raise_for_status()

    def die(self):
        """Closes the port until `revive`."""
        self.set(failure="refuse")

    def revive(self):
        self.set(failure=None)

    def revoke(self):
        """Makes all tokens worthless that were issued before."""
        self.generation = self._control.post("/control/revoke").raise_for_status().json()["generation"]

    def fetches(self, grant=None):
        """The requests so far, without refused connections."""
        reported = (Fetch(**fetch) for fetch in self._ask("/control/stats")["fetches"])
        return [fetch for fetch in reported if grant in (None, fetch.grant)]

    def expiries(self):
        """When the tokens end that it has issued, in seconds since 1970."""
        return [fetch.expiry for fetch in self.fetches() if fetch.expiry]

    def wait_for_fetches(self, count, within=5.0):
        eventually(lambda: len(self.fetches()) >= count, within, f"fetch {count} at the identity provider")
        return self.fetches()

    def wait_for_tokens(self, count, within=15.0):
        eventually(lambda: len(self.expiries()) >= count, within, f"token {count} of the identity provider")

    def fetch(self, client=CLIENT, secret=SECRET, method="client_secret_basic", **form):
        """A token, fetched by a plain client; raises httpx.HTTPStatusError."""
        form = {"grant_type": "client_credentials"} | form
        auth = None
        if method == "client_secret_basic":
            auth = (quote(client, safe=""), quote(secret, safe=""))
        else:
            form |= {"client_id": client, "client_secret": secret}
        return httpx.post(self.token_url, data=form, auth=auth, **CLEAR_TEXT).raise_for_status().json()

    def oauth2(self, **more):
        """What `token: { oauth2: … }` has to say; the secret is in ENVIRONMENT."""
        return {"token_url": self.token_url, "client_id": CLIENT, "client_secret": {"env": "CLIENT_SECRET"}} | more

    def stop(self):
        self._control.close()
        super().stop()
        print(f"--- identity provider\n{self.stderr.text}")
