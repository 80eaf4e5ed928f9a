"""`validate-*.yaml`: responses are accepted, rejected, changed and retried as their rules say."""

import json
import time

import pytest
from support.servers.http_api import response


def ask(proxy, path="/api", **options):
    with proxy.http(timeout=20) as http:
        return http.get(path, **options)


class TestDefault:
    """`validate-default.yaml`"""

    def test_an_empty_response_is_rejected(self, example, api):
        proxy = example("validate-default", api(lambda request, number: response(200, b"")))
        found = ask(proxy)
        assert (found.status_code, found.json()["message"]) == (500, "the response is empty")

    def test_a_status_is_retried_until_it_is_another(self, example, api):
        server = api(lambda request, number: response(503 if number < 3 else 200, {"number": number}))
        found = ask(example("validate-default", server))
        assert (found.status_code, found.json(), len(server.requests)) == (200, {"number": 3}, 3)

    def test_other_errors_pass(self, example, api):
        server = api(lambda request, number: response(404, {"number": number}))
        found = ask(example("validate-default", server))
        assert (found.status_code, found.json(), len(server.requests)) == (404, {"number": 1}, 1)

    def test_the_last_one_passes(self, example, api):
        server = api(lambda request, number: response(503, {"number": number}))
        found = ask(example("validate-default", server))
        assert (found.status_code, found.json()) == (503, {"number": 4})


class TestEnvelope:
    """`validate-envelope.yaml`"""

    @pytest.mark.parametrize(
        "value, status, told",
        [
            ({"code": 0, "data": {"id": 1}}, 200, None),
            ({"data": {}}, 500, "the response is not valid"),
            ({"code": 1, "errorMsg": "no stock"}, 400, "no stock"),
            ({"code": 1}, 500, "unknown error"),
            ({"code": 0, "retriable": False}, 500, "the response is not valid"),
        ],
        ids=str,
    )
    def test_the_body_decides(self, example, api, value, status, told):
        server = api(lambda request, number: response(200, value))
        found = ask(example("validate-envelope", server))
        assert (found.status_code, found.json() if told is None else found.json()["message"]) == (status, told or value)
        assert len(server.requests) == 1

    def test_what_can_be_retried_is(self, example, api):
        right = {"code": 0, "data": {"id": 1}}
        server = api(lambda request, number: response(200, {"code": 0, "retriable": True} if number < 3 else right))
        proxy = example("validate-envelope", server)
        with proxy.http() as http:
            found = http.post("/api", content=b"[1]", headers={"content-type": "application/json"})
        assert (found.json(), [request.body for request in server.requests]) == (right, [b"[1]"] * 3)

    def test_a_response_is_changed(self, example, api):
        server = api(lambda request, number: response(200, {"code": 0, "data": {}}, x_api_deprecated="1"))
        found = ask(example("validate-envelope", server))
        assert "x-api-deprecated" not in found.headers and found.headers["warning"] == '299 - "deprecated"'


class TestLogin:
    """`validate-login.yaml`"""

    @staticmethod
    def server(refreshed, status):
        def respond(request, number):
            if request.target == "/refreshToken":
                assert (request.method, json.loads(request.body)) == ("POST", {"client": "shop", "secret": "s3"})
                return refreshed
            is_known = request.header("authorization") == "Bearer new"
            return response(200, {"books": []}) if is_known else response(status, {"error": "expired"})

        return respond

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_token_is_refreshed(self, example, api, status):
        server = api(self.server(response(200, {"token": "new"}), status))
        found = ask(example("validate-login", server, CLIENT_SECRET="s3"), headers={"authorization": "Bearer old"})
        assert (found.status_code, found.json()) == (200, {"books": []})
        assert server.targets == ["/api", "/refreshToken", "/api"]

    def test_a_token_that_is_of_no_use_is_refreshed_once(self, example, api):
        server = api(self.server(response(200, {"token": "wrong"}), 401))
        found = ask(example("validate-login", server, CLIENT_SECRET="s3"))
        assert (found.status_code, found.json()["code"]) == (503, "unavailable")
        assert server.targets == ["/api", "/refreshToken", "/api"]

    def test_a_refresh_that_fails_leaves_the_response(self, example, api):
        server = api(self.server(response(500, {}), 401))
        found = ask(example("validate-login", server, CLIENT_SECRET="s3"))
        assert (found.status_code, found.json()["code"]) == (503, "unavailable")
        assert server.targets == ["/api", "/refreshToken", "/api"]


def test_a_login_in_silence(example, api):
    """`validate-silent-login.yaml`"""
    times = []

    def respond(request, number):
        times.append(time.monotonic())
        if request.target == "/login":
            assert request.body == b"username=reader&pwd=p%26w"
            return response(200, {"token": "fresh"})
        return response(200, ["scifi"]) if request.header("x-token") == "fresh" else response(401, {})

    server = api(respond)
    found = ask(example("validate-silent-login", server, BOOKS_PASSWORD="p&w"), "/user/books/scifi", headers={"x-token": "old"})
    assert (found.status_code, found.json()) == (200, ["scifi"])
    assert server.targets == ["/user/books/scifi", "/login", "/user/books/scifi"]
    assert 0.29 <= times[2] - times[1] < 5
