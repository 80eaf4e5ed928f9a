"""`client.yaml`: requests get the base path, the headers, the query and the cookies of the upstream."""

from support.servers.http_api import response


def test_requests_are_completed(example, api):
    server = api(lambda request, number: response(200, {}, set_cookie="session=s1; Path=/"))
    proxy = example("client", server)
    with proxy.http() as http:
        first = http.get("/login?autosignout=30", headers={"user-agent": "mine"})
        http.headers.pop("user-agent")
        http.get("/orders")
    assert "set-cookie" not in first.headers
    one, two = server.requests
    assert (one.target, two.target) == ("/api/v2/login?autosignout=30&language=it-IT", "/api/v2/orders?language=it-IT")
    assert [one.header("user-agent"), two.header("user-agent")] == ["mine", "shop-client/2"]
    assert [one.header("cookie"), two.header("cookie")] == [None, "session=s1"]
    assert {request.header("x-api-experimental") for request in server.requests} == {"true"}
