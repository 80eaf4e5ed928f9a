"""Types come from an upstream by reflection, and stay up to date without a reload."""

import re

import pytest
from google.protobuf import descriptor_pb2
from support.servers.reflecting_service import SERVICE, ReflectingService, definition
from support.wait import eventually

UNKNOWN = {"code": "unavailable", "message": "the types of orders are not known yet"}


@pytest.fixture
def service(running):
    """Starts a gRPC server with reflection."""
    return lambda *fields, **options: running(ReflectingService(*fields, **options))


def configuration(url, refresh="1s", more="", files=""):
    return f"""
        listen: 127.0.0.1:0
        upstreams: {{ orders: {{ url: "{url}", speaks: grpc, codecs: [proto] }} }}
        types: {{ reflection: {{ upstream: orders, refresh: {refresh} }}{files} }}
        {more}
        """


def get(proxy, order, service=SERVICE):
    """Calls over a connection of its own."""
    with proxy.http() as client:
        return client.post(f"/{service}/Get", json=order)


def is_ready(proxy):
    return proxy.admin("/readyz").status_code == 200


def wait_until_ready(proxy, within=5.0):
    eventually(lambda: is_ready(proxy), within=within, what="readiness")


def refreshes(proxy, result):
    return proxy.metrics().total("martlet_types_refresh_total", upstream="orders", result=result)


# What is fetched


@pytest.mark.parametrize("versions", [["v1"], ["v1alpha"], ["v1", "v1alpha"]], ids=" ".join)
def test_a_json_call_reaches_a_server_that_knows_only_protobuf(martlet, service, versions):
    upstream = service("id", versions=versions)
    proxy = martlet(configuration(upstream.url))
    wait_until_ready(proxy)
    response = get(proxy, {"id": "a1", "placedAt": "2026-11-26T18:00:00Z"})
    assert (response.status_code, response.json()) == (200, {"placedAt": "2026-11-26T18:00:00Z", "id": "a1"})
    proxy.stderr.wait(r"info types known upstream=orders services=1\b")
    assert proxy.metrics().total("martlet_types_last_refresh_success_timestamp_seconds", upstream="orders") > 1e9
    assert re.search(r"^types: of upstream orders, 1 services, fetched at \S+Z$", proxy.admin("/status").text, re.MULTILINE)


def test_types_come_over_tls_from_a_verified_server(martlet, service, authority):
    own, other = authority(), authority("other")
    upstream = service("id", identity=own.issue("127.0.0.1"))
    text = configuration(upstream.url)
    proxy = martlet(text.replace("speaks:", f"tls: {{ ca: {other.file} }}, speaks:"))
    proxy.stderr.wait(r"types not known yet .*TLS handshake with .* failed")
    assert upstream.fetches == 0
    proxy.reload(text.replace("speaks:", f"tls: {{ ca: {own.file} }}, speaks:"))
    wait_until_ready(proxy)
    assert get(proxy, {"id": "a"}).json() == {"id": "a"}


def test_a_new_field_is_known_within_the_refresh_without_a_reload(martlet, service):
    upstream = service("id")
    proxy = martlet(configuration(upstream.url))
    wait_until_ready(proxy)
    assert get(proxy, {"colour": "red"}).status_code == 400
    upstream.stop()
    service("id", "colour", port=upstream.port)
    eventually(lambda: get(proxy, {"colour": "red"}).json() == {"colour": "red"}, within=10, what="the new field")
    assert len(proxy.stderr.matches(r"types known")) == 2 and not proxy.stderr.matches(r"reloaded")


def test_types_that_stay_the_same_are_logged_once(martlet, service):
    upstream = service("id")
    proxy = martlet(configuration(upstream.url))
    eventually(lambda: refreshes(proxy, "success") >= 3, within=10, what="three fetches")
    assert len(proxy.stderr.matches(r"types known")) == 1


def test_all_workers_know_the_types(martlet, service):
    upstream = service("id")
    proxy = martlet(configuration(upstream.url, more="workers: 2"))
    wait_until_ready(proxy)
    for _ in range(40):
        assert get(proxy, {"id": "a"}).json() == {"id": "a"}
    assert proxy.metrics().total("martlet_ready") == 1


@pytest.mark.waits
@pytest.mark.timeout(120)
def test_a_call_of_an_unknown_method_has_the_types_fetched_again(martlet, service):
    upstream = service("id")
    proxy = martlet(configuration(upstream.url, refresh="24h"))
    wait_until_ready(proxy)
    upstream.stop()
    new = service("id", service="shop.v1.Second", port=upstream.port)
    assert get(proxy, {}, "shop.v1.Second").json()["code"] == "unimplemented"
    eventually(lambda: get(proxy, {}, "shop.v1.Second").status_code == 200, within=60, what="the new service")
    assert new.fetches == 1


# What goes wrong


def test_what_the_configuration_names_and_the_types_lack_is_logged(martlet, command, service, tmp_path):
    rules = """
        interceptors:
          - message: { on: request, require: { json: { /idd: present } } }
          - when: { service: SERVICE, method: Gett }
            metrics: {}
        """.replace("SERVICE", SERVICE)
    upstream = service("id")
    text = configuration(upstream.url, more=rules).replace("refresh: 1s }", f"refresh: 1s }}, rest: [{SERVICE}s]")
    proxy = martlet(text)
    proxy.stderr.wait(rf"warn types without some services upstream=orders missing={SERVICE}s\b")
    proxy.stderr.wait(r"warn \S+martlet.yaml:\d+:\d+: no message has /idd; did you mean /id\?")
    proxy.stderr.wait(rf"warn \S+martlet.yaml:\d+:\d+: {SERVICE} has no method \"Gett\"; did you mean Get\?")
    file = tmp_path / "types.yaml"
    file.write_text(text)
    listed = command("types", "-c", file)
    assert re.search(rf"^  {SERVICE}s +\S+types.yaml:\d+:\d+$", listed.stdout.text, re.MULTILINE)
    assert "no message has /idd; did you mean /id?" in listed.stderr.text


def test_paths_of_rest_are_unavailable_until_they_are_known(martlet, service):
    upstream = service("id", versions=[])
    text = configuration(upstream.url, more="routes: [ { match: { service: [NAME] }, upstream: orders } ]".replace("NAME", SERVICE))
    proxy = martlet(text.replace("refresh: 1s }", f"refresh: 1s }}, rest: [{SERVICE}]"))
    proxy.stderr.wait("types not known yet")
    with proxy.http() as client:
        response = client.get("/v1/orders/1")
    assert (response.status_code, response.json()) == (503, UNKNOWN)


def test_a_server_without_reflection(martlet, service):
    upstream = service("id", versions=[])
    proxy = martlet(configuration(upstream.url))
    reason = "it has no reflection service, neither grpc.reflection.v1 nor grpc.reflection.v1alpha"
    proxy.stderr.wait(rf'warn types not known yet upstream=orders reason="{reason}"')
    response = get(proxy, {"id": "a"})
    assert (response.status_code, response.json()) == (503, UNKNOWN)
    ready = proxy.admin("/readyz")
    assert (ready.status_code, ready.text.strip()) == (503, f"the types of orders are not known yet: {reason}")
    eventually(lambda: refreshes(proxy, "error") >= 3, what="three fetches")
    assert len(proxy.stderr.matches("types not known yet")) == 1
    assert upstream.orders == 0


def test_a_server_that_comes_later(martlet, service):
    upstream = service("id")
    upstream.stop()
    proxy = martlet(configuration(upstream.url))
    proxy.stderr.wait(r"types not known yet .*cannot connect")
    assert get(proxy, {"id": "a"}).json() == UNKNOWN
    service("id", port=upstream.port)
    wait_until_ready(proxy, within=35)
    assert get(proxy, {"id": "a"}).json() == {"id": "a"}


def test_old_types_stay_when_reflection_breaks(martlet, service):
    upstream = service("id")
    proxy = martlet(configuration(upstream.url))
    wait_until_ready(proxy)
    upstream.stop()
    service("id", versions=[], port=upstream.port)
    proxy.stderr.wait(r"types not refreshed, still using the previous ones.*it has no reflection service")
    assert get(proxy, {"id": "a"}).json() == {"id": "a"}
    assert is_ready(proxy)
    # A reload keeps them, too.
    proxy.reload()
    assert is_ready(proxy)
    for _ in range(5):
        assert get(proxy, {"id": "a"}).json() == {"id": "a"}
    # And takes what it says of their form.
    proxy.reload(configuration(upstream.url, files=", unknown_fields: drop"))
    assert get(proxy, {"id": "a", "other": 1}).json() == {"id": "a"}


def test_a_reload_may_begin_and_end_reflection(martlet, service, tmp_path):
    upstream = service("id")
    without = f'listen: 127.0.0.1:0\nupstreams: {{ orders: {{ url: "{upstream.url}", speaks: grpc }} }}\n'
    proxy = martlet(without)
    assert is_ready(proxy) and upstream.fetches == 0
    proxy.reload(configuration(upstream.url))
    wait_until_ready(proxy)
    assert get(proxy, {"id": "a"}).json() == {"id": "a"}
    proxy.reload(without)
    assert is_ready(proxy)
    assert not proxy.metrics().select("martlet_types_refresh_total", upstream="orders")


def test_a_file_wins_over_a_file_of_the_same_name(martlet, service, tmp_path):
    upstream = service("id", "colour")
    own = descriptor_pb2.FileDescriptorSet(file=definition("id", "size"))
    path = tmp_path / "own.binpb"
    path.write_bytes(own.SerializeToString())
    proxy = martlet(configuration(upstream.url, files=f", files: [{path}]"))
    wait_until_ready(proxy)
    assert get(proxy, {"size": "XL"}).json() == {"size": "XL"}
    assert get(proxy, {"colour": "red"}).status_code == 400


def test_a_file_that_does_not_fit_leaves_the_types_as_they_were(martlet, service, tmp_path):
    upstream = service("id")
    proxy = martlet(configuration(upstream.url))
    wait_until_ready(proxy)
    other = definition("id")[1]
    other.message_type[0].name = "Other"
    path = tmp_path / "other.binpb"
    files = [definition()[0], other]
    path.write_bytes(descriptor_pb2.FileDescriptorSet(file=files).SerializeToString())
    proxy.reload(configuration(upstream.url, files=f", files: [{path}]"))
    proxy.stderr.wait(r"types not refreshed, still using the previous ones.*the types of its reflection are not valid: ")
    assert is_ready(proxy) and get(proxy, {"id": "a"}).json() == {"id": "a"}
    proxy.reload(configuration(upstream.url))
    proxy.stderr.wait(r"types known", count=2)
    assert get(proxy, {"id": "a"}).json() == {"id": "a"}


# The command


def test_martlet_types_fetches_them_itself(command, service, tmp_path):
    upstream = service("id")
    (tmp_path / "martlet.yaml").write_text(configuration(upstream.url))
    result = command("types", "-c", "martlet.yaml", cwd=tmp_path)
    expected = """\
shop.v1.OrderService
  Get    shop.v1.Order → shop.v1.Order
  Watch  stream shop.v1.Order → stream shop.v1.Order
"""
    assert (result.code, result.stderr.text, result.stdout.text) == (0, "", expected.rstrip())


def test_martlet_types_says_why_there_are_none(command, service, tmp_path):
    upstream = service("id")
    upstream.stop()
    (tmp_path / "martlet.yaml").write_text(configuration(upstream.url))
    result = command("types", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 1 and result.stdout.text == ""
    assert result.stderr.text.startswith("martlet: no types from upstream orders: upstream orders: cannot connect to ")


def test_martlet_types_lists_those_of_files_without_the_upstream(command, service, tmp_path):
    upstream = service("id")
    upstream.stop()
    path = tmp_path / "own.binpb"
    path.write_bytes(descriptor_pb2.FileDescriptorSet(file=definition("id")).SerializeToString())
    (tmp_path / "martlet.yaml").write_text(configuration(upstream.url, files=f", files: [{path}]"))
    result = command("types", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 1 and result.stdout.text.startswith(f"{SERVICE}\n")
    assert "no types from upstream orders" in result.stderr.text
