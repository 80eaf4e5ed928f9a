"""Ten calls in a row need one connection to the upstream, on whichever connections they arrive."""


def test_one_connection_is_enough(martlet, recorder):
    upstream = recorder()
    proxy = martlet(upstream=upstream.url, more="workers: 1")
    for _ in range(5):
        with proxy.http() as http:
            assert [http.get("/").text, http.post("/", content=b"x" * 100).text] == ["ok", "ok"]
    assert len(upstream.connections) == 1
    assert len(upstream.requests) == 10


def test_over_a_unix_socket(martlet, recorder, tmp_path):
    upstream = recorder(path=tmp_path / "up.sock")
    proxy = martlet(upstream=upstream.url, more="workers: 1")
    with proxy.http() as http:
        assert [http.get("/").text for _ in range(3)] == ["ok"] * 3
    assert len(upstream.connections) == 1
