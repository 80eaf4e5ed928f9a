"""`docker run martlet`, with nothing mounted: it serves, is healthy and writes its access log to standard output."""

import json

import dockerfile


def test_it_checks_serves_and_logs(container):
    ours = container().wait()
    checked = ours.exec(*dockerfile.ENTRYPOINT, "check")
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stderr
    assert ours.healthcheck() == 0
    response = ours.curl("--header", "content-type: application/json", "--data", "{}", "http://127.0.0.1:8080/shop.v1.OrderService/Get")
    assert json.loads(response)["code"] == "unavailable"
    assert json.loads(ours.stdout.wait(r"^\{.*\}$")[0])["code"] == "unavailable"
    ours.kill("TERM")
    assert ours.exit_code() == 0


def test_the_demo_responds(container, root):
    demo = container("-c", "/usr/share/doc/martlet/examples/respond-demo.yaml").wait()
    url = "http://127.0.0.1:8080/connectrpc.eliza.v1.ElizaService/Say"
    response = demo.curl("--header", "content-type: application/json", "--data", '{"sentence":"Hello"}', url)
    assert json.loads(response) == {"sentence": "Hello, I am Eliza. How are you feeling today?"}


def test_its_programs_and_libraries_are_there(root):
    assert (root / "usr/share/doc/martlet/nghttp2.COPYING").exists()
    assert (root / "usr/share/doc/martlet/martlet.spdx.json").exists()
    assert (root / "usr/share/doc/martlet/upb.LICENSE").exists()
    assert (root / "etc/ssl/certs/ca-certificates.crt").stat().st_size > 0
