"""Nothing that Martlet writes or shows contains the value of any token source, however calls end. No core is dumped."""

import base64
import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from joserfc import jwk

from support import protocol
from support.http1.recorder import JSON

ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
BAD = b"HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
NAMES = ["value", "env", "file", "exec", "kubernetes", "oauth2", "post", "signed", "exchange", "jwt", "call", "phantom"]
ENVIRONMENT_SECRETS = ["env", "oauth2", "post", "exchange", "login"]


class PlantedSecrets:
    """Distinct secrets by what they are for; `found` says which of them a text contains, in any spelling."""

    def __init__(self):
        self._values = {}

    def __getitem__(self, name):
        # A slash and a plus show escapes, letters and digits a plain search.
        return self._values.setdefault(name, f"pl4nted-{name}-{len(self._values):02}+/z")

    def add(self, name, value):
        self._values[name] = value

    def found(self, text):
        return sorted({name for name, value in self._values.items() for spelling in spellings(value) if spelling in text})


def spellings(value):
    """The value as it may stand in a text: escaped for URLs, forms and JSON, in base64 at any offset, in hexadecimal."""
    yield from {value, quote(value), quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1], value.replace("/", "\\/")}
    yield value.encode().hex()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + value.encode()).decode()
        yield encoded[4 if offset else 0 :].rstrip("=")[:-2]


@dataclass
class SecretSearch:
    """A daemon with every source, each the token of the calls that name it in `x-source`."""

    proxy: object
    provider: object
    planted: PlantedSecrets
    seen: list  # the responses that callers got, heads included

    def call_all(self):
        with self.proxy.http(timeout=10) as http:
            for name, caller in itertools.product(NAMES, [protocol.CONNECT_UNARY_JSON, protocol.GRPC_WEB, protocol.PLAIN]):
                fields = {"x-source": name, "authorization": f"Bearer {self.planted['ticket']}"}
                if name == "phantom":
                    fields["x-phantom"] = self.planted["phantom value"]
                response = caller.call(http, headers=fields)
                self.seen.append(f"{response.status_code} {response.headers} {response.text}")

    def leaks(self):
        """Which secrets leaked, and where."""
        found = {where: self.planted.found(text) for where, text in self.everything().items()}
        return {where: names for where, names in found.items() if names}

    def everything(self):
        """All that can be read of the daemon."""
        pages = ["/config", "/credentials", "/calls/recent", "/metrics"]
        texts = {page: self.proxy.admin(page).text for page in pages}
        assert all(texts.values())
        assert len(json.loads(texts["/credentials"])["credentials"]) >= len(NAMES) - 1
        log = {"stdout": self.proxy.stdout.text, "stderr": self.proxy.stderr.text}
        return texts | log | {"callers": "\n".join(self.seen)}


def sources(planted, provider, directory):
    """Each source, with its secret in it or in a file."""
    for name in ("file", "phantom value"):
        (directory / name).write_text(planted[name])
    key = jwk.generate_key("RSA", 2048, private=True)
    (directory / "key.pem").write_bytes(key.as_pem(private=True))
    for number, line in enumerate(key.as_pem(private=True).decode().splitlines()[1:-2]):
        planted.add(f"key line {number}", line)
    script = directory / "program"
    script.write_text('#!/bin/sh\nprintf "%s" "$OUT"\necho "$OUT" >&2\n')
    script.chmod(0o755)
    credential = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1"}
    credential["status"] = {"token": planted["kubernetes"]}
    clients = {name: planted[name] for name in ("oauth2", "post", "exchange")} | {"martlet": planted["login"]}
    provider.set(clients=clients, keys={"signed": key.as_dict(private=False)}, subjects={planted["ticket"]: "ann"})
    run = {"command": [str(script)], "environment": {"OUT": planted["exec"]}}

    def oauth2(name, **more):
        secret = {"client_secret": {"env": f"SECRET_{name.upper()}"}}
        return {"token_url": provider.token_url, "client_id": name, "timeout": "300ms"} | secret | more

    signed = {"token_url": provider.token_url, "client_id": "signed", "auth": "private_key_jwt", "timeout": "300ms"}
    key_file = {"key": {"file": f"{directory}/key.pem"}, "algorithm": "RS256"}
    return {
        "value": {"value": planted["value"]},
        "env": {"env": "SECRET_ENV"},
        "file": {"file": f"{directory}/file", "header": "x-key"},
        "exec": {"exec": run | {"format": "text"}},
        "kubernetes": {"exec": run | {"format": "kubernetes", "environment": {"OUT": json.dumps(credential)}}},
        "oauth2": {"oauth2": oauth2("oauth2", parameters={"hint": planted["parameter"]})},
        "post": {"oauth2": oauth2("post", auth="post")},
        "signed": {"oauth2": signed | key_file},
        "exchange": {
            "exchange": oauth2("exchange", subject_token="{header:authorization}", subject_token_type=ACCESS_TOKEN)
        },
        "jwt": {"jwt": key_file | {"issuer": "martlet", "claims": {"inner": planted["claim"]}}},
        "call": {"call": {"name": "login", "value": "/token", "expires_in": "/expires_in"}},
        "phantom": {
            "value": planted["phantom"],
            "phantom": {"header": "x-phantom", "value": {"file": f"{directory}/phantom value"}},
        },
    }


def configuration(upstream, tokens, provider):
    body = {"json": {"user": "martlet", "password": "{env:SECRET_LOGIN}"}}
    chain = [
        {"log": {"headers": ["authorization", "x-key", "x-phantom"]}},
        *({"name": name, "when": {"header": {"x-source": name}}, "token": token} for name, token in tokens.items()),
    ]
    calls = {"login": {"url": provider.login_url, "timeout": "300ms", "body": body}}
    return "\n".join([
        "listen: 127.0.0.1:0",
        "log_level: debug",
        f"upstream: {upstream}",
        f"calls: {json.dumps(calls)}",
        "interceptors:",
        *(f"  - {json.dumps(item)}" for item in chain),
    ])  # fmt: skip


@pytest.fixture
def planted():
    return PlantedSecrets()


@pytest.fixture
def tokens(planted, identity_provider, tmp_path):
    provider = identity_provider()
    return provider, sources(planted, provider, tmp_path)


@pytest.fixture
def environment(planted):
    return {f"SECRET_{name.upper()}": planted[name] for name in ENVIRONMENT_SECRETS}


@pytest.fixture
def start_search(martlet, recorder, planted, tokens, environment):
    """Starts a daemon with `response` from its upstream; each token that arrives there is planted, too."""

    def start(response=JSON):
        provider, by_name = tokens
        upstream = recorder(response=response)
        proxy = martlet(configuration(upstream.url, by_name, provider), environment=environment)
        return SecretSearch(proxy, provider, planted, []), upstream

    return start


def plant_what_arrived(planted, upstream):
    for number, request in enumerate(upstream.requests):
        value = request.header("authorization") or request.header("x-key")
        planted.add(f"token {number}", value.rpartition(" ")[2])


@pytest.mark.parametrize("response", [JSON, BAD], ids=["accepted", "rejected"])
def test_with_a_provider(start_search, planted, response):
    search, upstream = start_search(response)
    search.call_all()
    arrived = {request.header("x-source") for request in upstream.requests}
    assert arrived == set(NAMES), search.seen
    assert any("pl4nted-value" in (request.header("authorization") or "") for request in upstream.requests)
    plant_what_arrived(planted, upstream)
    assert search.leaks() == {}


@pytest.mark.waits
@pytest.mark.parametrize("failure", ["500", "429", "json", "echo", "hang", "refuse"])
def test_with_a_provider_that_fails(start_search, planted, failure):
    """Above all when it sends a client's secrets in its errors."""
    search, upstream = start_search()
    search.provider.set(failure=failure)
    search.call_all()
    plant_what_arrived(planted, upstream)
    assert any("unavailable" in seen for seen in search.seen) and "proxy-status" in "".join(search.seen)
    assert search.leaks() == {}


def test_with_an_upstream_that_is_down(start_search, planted):
    search, upstream = start_search()
    upstream.stop()
    search.call_all()
    assert search.leaks() == {}


def test_explain(command, planted, tokens, environment, tmp_path):
    provider, by_name = tokens
    file = tmp_path / "martlet.yaml"
    file.write_text(configuration("http://127.0.0.1:9", by_name, provider))
    for name in NAMES:
        fields = [f"x-source: {name}", f"authorization: Bearer {planted['ticket']}"]
        fields.append(f"x-phantom: {planted['phantom value']}")
        options = [word for one in fields for word in ("-H", one)]
        result = command("explain", "-c", file, "POST", "/a.B/C", *options, environment=environment)
        assert result.code == 0, result.stderr.text
        assert planted.found(result.stdout.text + result.stderr.text) == []


# What is wrong with a file: what to look for in the configuration, and what to write instead.
MISTAKES = [
    (r'"value": (".*?")', r'"value": [\1]'),
    (r'"value": (".*?")', r'"valu": \1'),
    (r'"value": (".*?")', r'"value": \1, "env": "X"'),
    (r'"value": "(.*?)"', r'"value": "\1\\u0001"'),
    (r'"OUT": (".*?")', r'"OUT": {"x": \1}'),
    (r'"hint": (".*?")', r'"hint": [\1]'),
    (r'"hint": "(.*?)"', r'"hint": "\1 {nothing}"'),
    (r'"inner": (".*?")', r'"inner": \1, "inner": \1'),
    (r'"password": "(.*?)"', r'"password": "\1 {nothing}"'),
    (r'"env": "SECRET_OAUTH2"', r'"value": ["{oauth2}"]'),
    (r'"env": "SECRET_OAUTH2"', r'"env": "SECRET_OAUTH2", "valeu": "{oauth2}"'),
    (r'"client_secret": \{"env": "SECRET_POST"\}', r'"client_secret": "{post}"'),
    (r"upstream: ", r"upstraem: "),
]


@pytest.mark.parametrize("pattern, mistake", MISTAKES)
def test_check(command, planted, tokens, environment, tmp_path, pattern, mistake):
    provider, by_name = tokens
    for name in ("oauth2", "post"):
        mistake = mistake.replace("{" + name + "}", planted[name])
    text, changes = re.subn(pattern, mistake, configuration("http://127.0.0.1:9", by_name, provider), count=1)
    assert changes == 1
    (tmp_path / "martlet.yaml").write_text(text)
    for subcommand in ("check", "run"):
        result = command(subcommand, "-c", "martlet.yaml", cwd=tmp_path, environment=environment)
        assert result.code == 78 and re.search(r"martlet\.yaml:\d+:\d+: ", result.stderr.text)
        assert planted.found(result.stdout.text + result.stderr.text) == []


def test_no_core_is_dumped(martlet):
    limits = Path(f"/proc/{martlet(upstream='http://127.0.0.1:9').pid}/limits").read_text()
    assert re.search(r"^Max core file size +0 +0 +bytes", limits, re.MULTILINE), limits


def test_the_search_finds_a_secret_that_is_there(planted):
    """Else all of the above would prove nothing."""
    value = planted["value"]
    spellings = [quote(value), quote(value, safe=""), json.dumps({"a": value}), value.encode().hex()]
    spellings.append(value.replace("/", "\\/"))
    spellings += [base64.b64encode(before + value.encode() + b":x").decode() for before in (b"", b"a", b"id:", b"user")]
    for text in [value, *spellings]:
        assert planted.found(f"x {text} x") == ["value"], text
    assert planted.found("pl4nted") == []
