"""No log of Martlet's is among the output of its program, unless that is meant."""

import pytest

LOG = "interceptors:\n  - log: {options}\n"
PROBLEM = "the program has standard output; write to stderr or a file, or run exec with --own-stdout"
CALL = 'curl -s "http://$MARTLET_ADDRESS/"; echo'


@pytest.mark.parametrize(
    "options",
    [
        "{}",
        "{ to: stdout }",
        "{ to: /dev/stdout }",
        "{ to: /proc/self/fd/1 }",
        "{ to: /proc/thread-self/fd/1 }",
        "{ to: //dev/../dev/stdout }",
    ],
)
def test_a_log_to_standard_output_is_an_error(job, tmp_path, options):
    proxy = job("touch", tmp_path / "ran", more=LOG.format(options=options), wait=False)
    assert proxy.exit_code() == 78
    (line,) = [line for line in proxy.stderr if PROBLEM in line]
    assert line.startswith(f"{proxy.file}:4:")
    assert not (tmp_path / "ran").exists()


def test_a_link_to_it_is_an_error(job, tmp_path):
    (tmp_path / "link").symlink_to("/dev/stdout")
    proxy = job("true", more=LOG.format(options=f"{{ to: {tmp_path}/link }}"), wait=False)
    assert proxy.exit_code() == 78 and PROBLEM in proxy.stderr.text


def test_links_to_other_places(job, tmp_path):
    (tmp_path / "1").symlink_to("log")
    (tmp_path / "loop").symlink_to("loop")
    proxy = job("sh", "-c", CALL, more=LOG.format(options=f"{{ to: {tmp_path}/1 }}"))
    assert proxy.exit_code() == 0 and "{" in (tmp_path / "log").read_text()
    proxy = job("true", more=LOG.format(options=f"{{ to: {tmp_path}/loop }}"), wait=False)
    assert proxy.exit_code() == 0 and "cannot open the log" in proxy.stderr.text


def test_standard_error_may_lead_to_the_same_place(job):
    """As in a container, or in a script that has both in one file: whoever names it means it."""
    through = ["sh", "-c", 'exec "$0" "$@" 2>&1']
    proxy = job("true", through=through, more=LOG.format(options="{ to: /dev/stderr }"), wait=False)
    assert proxy.exit_code() == 0
    assert PROBLEM not in proxy.stdout.text


@pytest.mark.parametrize("place", ["stderr", "/dev/stderr"])
def test_a_log_to_standard_error(job, place):
    proxy = job("sh", "-c", CALL, more=LOG.format(options=f"{{ to: {place} }}"))
    assert proxy.exit_code() == 0
    assert list(proxy.stdout) == ["ok"]
    assert any(line.startswith("{") for line in proxy.stderr)


def test_own_stdout(job):
    proxy = job("sh", "-c", CALL, options=["--own-stdout"], more=LOG.format(options="{}"))
    assert proxy.exit_code() == 0
    assert "ok" in proxy.stdout.text and '"status":200' in proxy.stdout.text.replace(" ", "")


def test_a_reload_to_standard_output_is_rejected(job):
    proxy = job("sleep", "60")
    proxy.write(f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n{LOG.format(options='{}')}")
    proxy.reload(outcome="reload rejected")
    proxy.stderr.wait(PROBLEM)
    with proxy.http() as http:
        assert http.get("/").text == "ok"


def test_the_demo_logs_to_standard_output(command):
    result = command("exec", "--", "true")
    assert result.code == 78 and "(demo):" in result.stderr.text and PROBLEM in result.stderr.text
