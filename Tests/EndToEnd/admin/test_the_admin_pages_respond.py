"""Health, readiness, metrics and configuration can be read; reload and drain can be requested. Reading never changes anything."""

import os

import httpx
import pytest

from support.http1.peer import connect

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:80\ninterceptors: [ token: { env: SECRET } ]\n"


@pytest.fixture
def proxy(martlet):
    return martlet(CONFIGURATION, environment={"SECRET": "s3cret"})


def test_pages(proxy):
    assert (proxy.admin("/healthz").status_code, proxy.admin("/healthz").text.strip()) == (200, "ok")
    assert (proxy.admin("/readyz").status_code, proxy.admin("/readyz").text.strip()) == (200, "ready")
    assert proxy.admin("/metrics").headers["content-type"].startswith("text/plain; version=0.0.4")
    assert proxy.metrics().total("martlet_config_generation") == 1
    assert proxy.admin("/none").status_code == 404


def test_head_is_get_without_the_body(proxy):
    head, page = proxy.admin("/config", "HEAD"), proxy.admin("/config")
    assert (head.status_code, head.text) == (200, "")
    for name in ["content-type", "content-length"]:
        assert head.headers[name] == page.headers[name]


def test_the_configuration_without_its_secrets(proxy):
    page = proxy.admin("/config")
    assert page.headers["content-type"] == "application/json"
    assert page.json()["generation"] == 1
    assert page.json()["file"] == str(proxy.file)
    assert page.json()["config"]["drain"] == {"min": "0s", "max": "30s", "handover": "5s", "generation": "none"}  # a default shows, too
    assert "s3cret" not in page.text


@pytest.mark.parametrize(
    "method, path, allowed",
    [
        ("POST", "/healthz", "GET"),
        ("POST", "/metrics", "GET"),
        ("DELETE", "/config", "GET"),
        ("GET", "/reload", "POST"),
        ("GET", "/drain", "POST"),
        ("HEAD", "/drain", "POST"),
        ("POST", "/", "GET"),
    ],
)
def test_wrong_method(proxy, method, path, allowed):
    response = proxy.admin(path, method)
    assert response.status_code == 405
    assert allowed in response.headers["allow"]
    assert proxy.admin("/readyz").status_code == 200


def test_reload(proxy):
    response = proxy.admin("/reload", "POST")
    assert (response.status_code, response.json()) == (200, {"generation": 2})
    proxy.write("listn: 1\n")
    response = proxy.admin("/reload", "POST")
    assert response.status_code == 422
    assert 'martlet.yaml:1:1: unknown key "listn"; did you mean "listen"?' in response.text
    assert proxy.admin("/config").json()["generation"] == 2


def test_drain(proxy):
    assert proxy.admin("/drain", "POST").status_code == 202
    assert proxy.exit_code() == 0


def test_over_tcp(martlet):
    proxy = martlet(CONFIGURATION + "admin: { address: '127.0.0.1:0' }\n", environment={"SECRET": "s3cret"})
    pages = [httpx.get(f"http://{address}/healthz", trust_env=False) for address in proxy.addresses]
    assert "ok" in [page.text.strip() for page in pages]


def test_only_on_loopback(command, tmp_path):
    (tmp_path / "martlet.yaml").write_text(
        "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:80\nadmin: { address: '0.0.0.0:9901' }\n"
    )
    result = command("check", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 78 and "martlet.yaml:3:" in result.stderr.text


def test_the_mode_of_its_socket(proxy):
    # A caller shares a group with the daemon and must not be able to stop it.
    assert proxy.admin_socket.stat().st_mode & 0o777 == 0o600


def test_the_group_of_its_socket(martlet, tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root may give a socket to another group")
    path = tmp_path / "operators.sock"
    martlet(CONFIGURATION + f"admin: {{ address: 'unix:{path}', mode: '0660', owner: nobody, group: daemon }}\n",
            environment={"SECRET": "s3cret"})
    assert (path.owner(), path.group(), path.stat().st_mode & 0o777) == ("nobody", "daemon", 0o660)


def test_the_list_of_pages(proxy):
    pages = [line.split()[:2] for line in proxy.admin("/").text.splitlines()]
    assert ["GET", "/metrics"] in pages and ["POST", "/drain"] in pages


def test_a_few_pages_for_other_machines(martlet):
    proxy = martlet(
        CONFIGURATION
        + """
admin:
  - "127.0.0.1:0"
  - { address: "0.0.0.0:0", allow_remote: true, pages: [metrics, healthz, readyz] }
""",
        environment={"SECRET": "s3cret"},
    )
    port = next(m[1] for m in proxy.stderr.matches(r"address=0\.0\.0\.0:(\d+) for=admin"))
    # As a scraper names the machine: by an address that is none of loopback.
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"host": "pod.example"}, trust_env=False) as client:
        assert client.get("/metrics").status_code == client.get("/readyz").status_code == 200
        assert [line.split()[1] for line in client.get("/").text.splitlines()] == ["/healthz", "/readyz", "/metrics"]
        for method, path in [("GET", "/config"), ("GET", "/status"), ("POST", "/drain"), ("POST", "/reload")]:
            assert client.request(method, path).status_code == 404


@pytest.mark.parametrize(
    "admin, error",
    [
        ("{ address: '0.0.0.0:9901' }", "add allow_remote: true and pages: [metrics, healthz, readyz]"),
        ("{ address: '0.0.0.0:9901', allow_remote: true }", "add allow_remote: true and pages:"),
        ("{ address: '0.0.0.0:9901', allow_remote: true, pages: [metrics, drain] }", "the page drain is only for this machine"),
        ("[ '127.0.0.1:9901', '127.0.0.1:9901' ]", "127.0.0.1:9901 is already used on line 3"),
        ("{ address: '127.0.0.1:9901', pages: [] }", '"pages" is an empty list'),
        ("{ address: '127.0.0.1:9901', pages: [metrix] }", 'did you mean "metrics"'),
        ("{ address: '127.0.0.1:9901', group: app }", '"group" has no effect without a Unix socket'),
    ],
)
def test_invalid_admin_settings(command, tmp_path, admin, error):
    (tmp_path / "martlet.yaml").write_text(f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:80\nadmin: {admin}\n")
    result = command("check", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 78 and error in result.stderr.text and "martlet.yaml:3:" in result.stderr.text


def test_a_missing_body_blocks_no_other_request(proxy):
    request = b"POST /drain HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n"
    caller = connect(str(proxy.admin_socket))
    caller.send(request)
    assert caller.head().startswith(b"HTTP/1.1 202 ")


@pytest.mark.parametrize(
    "field", [{"host": "evil.example"}, {"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}]
)
def test_web_pages_are_rejected(martlet, field):
    proxy = martlet("admin: 127.0.0.1:0\n" + CONFIGURATION, environment={"SECRET": "s3cret"}, wait=False)
    proxy.stderr.wait(r"\bready\b")
    url = next(f"http://{a}" for a in (m[1] for m in proxy.stderr.matches(r"address=(\S+) for=admin")))
    with httpx.Client(base_url=url, trust_env=False) as client:
        assert client.get("/config").status_code == 200
        assert client.get("/config", headers=field).status_code == 403
        assert client.post("/drain", headers=field).status_code == 403
