"""The program behind IdentityProvider: an OAuth2 server, and a second port by which the test rules it.

usage: python -m support.servers.identity_provider_service

It prints one line of JSON: `url`, where tokens are to be had, and `control`.
"""

import json
import socket
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

from support.servers.identity_provider_oauth import EXCHANGE, OAuth

# What a setting may be; `refuse` closes the port, `hang` sends nothing, `echo` sends the client its own secrets.
FAILURES = {None, "500", "503", "429", "json", "echo", "hang", "refuse"}
GRANTS = {EXCHANGE: "exchange"}


class State:
    """The settings of the test, and the requests so far."""

    def __init__(self):
        self.settled = threading.Condition()
        self.generation = 1
        self.fetches = []
        self.seconds = 3600
        self.lifetimes = {}
        self.latency = 0
        self.failure = None
        self.retry_after = "1"
        self.clients = {"martlet": "client secret/+%é"}
        self.keys = {}
        self.subjects = {}

    def lifetime(self, client):
        return self.lifetimes.get(client, self.seconds)

    def set(self, settings):
        with self.settled:
            for name, value in settings.items():
                name = {"lifetime": "seconds"}.get(name, name)
                assert hasattr(self, name), f"no setting {name}"
                assert name != "failure" or value in FAILURES, f"no failure {value}"
                setattr(self, name, value)
            self.settled.notify_all()

    def revoke(self):
        with self.settled:
            self.generation += 1

    def begin(self, grant, form):
        """Counts a fetch; its result is written into what is returned. The time is that of all programs' monotonic clock."""
        fetch = {"at": time.monotonic(), "grant": grant, "form": form, "result": None}
        fetch |= {"client": None, "auth": None, "expiry": None}
        with self.settled:
            self.fetches.append(fetch)
        return fetch

    def wait_until(self, condition, within):
        with self.settled:
            self.settled.wait_for(condition, within)

    def stats(self):
        with self.settled:
            by_grant = {}
            for fetch in self.fetches:
                by_grant[fetch["grant"]] = by_grant.get(fetch["grant"], 0) + 1
            return {"fetches": list(self.fetches), "by_grant": by_grant}


class Server(ThreadingHTTPServer):
    """Closes its connections together with its port."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self, port, handler):
        self._open = set()
        super().__init__(("127.0.0.1", port), handler)
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def get_request(self):
        request, address = super().get_request()
        self._open.add(request)
        return request, address

    def shutdown_request(self, request):
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            traceback.print_exc()  # and not a client that went away

    def close(self):
        self.shutdown()
        self.server_close()
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def body(self):
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def response(self, status, body, headers=()):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in dict(headers).items():
            if name.lower() not in ("content-type", "content-length"):
                self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


class Provider:
    """The port of clients, which can be closed and opened again, and the port of the test."""

    def __init__(self):
        # Bound and never listening, it keeps the port while no server listens there.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port = self._place.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.state = State()
        self.oauth = OAuth(self.url, self.state)
        self._server = Server(self.port, self._handler(Public))
        self._changing = threading.Lock()
        self.control = Server(0, self._handler(Control))

    def _handler(self, kind):
        return type(kind.__name__, (kind,), {"provider": self})

    def set(self, settings):
        with self._changing:
            self.state.set(settings)
            refuses = self.state.failure == "refuse"
            if refuses and self._server:
                self._server.close()
                self._server = None
            elif not refuses and not self._server:
                self._server = Server(self.port, self._handler(Public))


class Public(Handler):
    """What clients see: /token, /login, /jwks."""

    def do_GET(self):
        if self.path == "/jwks":
            return self.response(200, self.provider.oauth.jwks())
        self.response(404, {})

    def do_POST(self):
        content = self.body()
        if self.path == "/token":
            form = dict(parse_qsl(content.decode(), keep_blank_values=True))
            grant = form.get("grant_type", "none")
            return self._serve(GRANTS.get(grant, grant), form, self._token)
        if self.path == "/login":
            return self._serve("login", json.loads(content), self._login)
        self.response(404, {})

    def _serve(self, grant, form, good):
        state = self.provider.state
        fetch = state.begin(grant, form)
        if state.latency:
            state.wait_until(lambda: False, state.latency)
        status, body, headers = self._failure(form) or good(fetch, form)
        fetch["result"] = status
        if status is None:
            self.close_connection = True
        else:
            self.response(status, body, headers)

    def _failure(self, form):
        """(status, body, headers) if things shall go wrong; None as status ends the connection without a response."""
        state = self.provider.state
        match state.failure:
            case "500" | "503":
                return int(state.failure), {"error": "server_error"}, {}
            case "429":
                return 429, {"error": "slow_down"}, {"retry-after": state.retry_after}
            case "json":
                return 200, b'{"access_token": "half', {}
            case "echo":
                reported = " ".join([*form.values(), self.headers.get("authorization", "")])
                return 400, {"error": "invalid_client", "error_description": reported}, {"x-told": reported.encode().hex()}
            case "hang":
                state.wait_until(lambda: state.failure != "hang", 60)
                return None, b"", {}
            case "refuse":
                return None, b"", {}

    def _token(self, fetch, form):
        status, body, headers, request = self.provider.oauth.response(self.headers, form)
        fetch["auth"], fetch["client"] = request.auth_method, request.client and request.client.name
        fetch["expiry"] = time.time() + body["expires_in"] if status == 200 else None
        return status, body, headers

    def _login(self, fetch, form):
        state = self.provider.state
        if state.clients.get(form.get("user")) != form.get("password"):
            return 401, {"error": "wrong password"}, {}
        token = self.provider.oauth.issue(form["user"])
        expiry = time.time() + token["expires_in"]
        fetch["expiry"] = expiry
        body = {"token": token["access_token"], "expires_in": token["expires_in"], "exp": expiry}
        return 200, body, {}


class Control(Handler):
    """What the test sees."""

    def do_GET(self):
        state = self.provider.state
        match self.path:
            case "/control/stats":
                self.response(200, state.stats())
            case "/control/generation":
                self.response(200, {"generation": state.generation})
            case "/control/jwks":
                self.response(200, self.provider.oauth.jwks())
            case _:
                self.response(404, {})

    def do_POST(self):
        content = self.body()
        match self.path:
            case "/control/settings":
                self.provider.set(json.loads(content))
                self.response(200, {})
            case "/control/revoke":
                self.provider.state.revoke()
                self.response(200, {"generation": self.provider.state.generation})
            case _:
                self.response(404, {})


def main():
    provider = Provider()
    control = f"http://127.0.0.1:{provider.control.server_address[1]}"
    print(json.dumps({"url": provider.url, "control": control}), flush=True)
    provider.control.thread.join()


if __name__ == "__main__":
    main()
