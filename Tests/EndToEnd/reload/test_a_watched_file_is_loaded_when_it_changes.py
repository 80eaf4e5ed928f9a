"""`run --watch` reloads when the file changes, also if the file is a link that changes, as in a ConfigMap."""

from support.compiler import SLOW_OPEN, compiled
from support.martlet import DESCRIPTOR_SET, Command
from support.wait import eventually

CONFIGURATION = "listen: 127.0.0.1:0\ninterceptors: [ respond: {{ body: {} }} ]\n"


def serve(running, file):
    proxy = running(Command("run", "--watch", "-c", file))
    address = proxy.stderr.wait(r" listening address=(\S+)")[1]
    proxy.stderr.wait(r" ready ")
    return proxy, address


def test_a_file(running, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(CONFIGURATION.format("one"))
    proxy, _ = serve(running, file)
    file.with_suffix(".new").write_text(CONFIGURATION.format("two"))
    file.with_suffix(".new").replace(file)
    proxy.stderr.wait(r" reloaded generation=2\b")
    file.write_text("listn: 1\n")
    proxy.stderr.wait(r" error reload rejected ")
    file.write_text(CONFIGURATION.format("three"))
    proxy.stderr.wait(r" reloaded generation=3\b")


def test_a_volume_of_kubernetes(running, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "martlet.yaml").write_text(CONFIGURATION.format(name))
    (tmp_path / "..data").symlink_to("one")
    (tmp_path / "martlet.yaml").symlink_to("..data/martlet.yaml")
    proxy, _ = serve(running, tmp_path / "martlet.yaml")
    (tmp_path / "..new").symlink_to("two")
    (tmp_path / "..new").replace(tmp_path / "..data")
    proxy.stderr.wait(r" reloaded generation=2\b")


def test_a_change_while_the_file_is_loaded(running, tmp_path):
    file, types = tmp_path / "martlet.yaml", tmp_path / "types.slow"
    types.write_text(DESCRIPTOR_SET)
    file.write_text(CONFIGURATION.format("one") + f"types: {{ files: [{types}] }}\n")
    library = compiled(SLOW_OPEN, tmp_path / "slow.so")
    proxy = running(Command("run", "--watch", "-c", file, environment={"LD_PRELOAD": library}))
    # The types are read after the text of the file.
    eventually((tmp_path / "types.slow.waiting").exists, what="the load")
    file.write_text(CONFIGURATION.format("two"))
    (tmp_path / "types.slow.ready").touch()
    proxy.stderr.wait(r" reloaded generation=2\b")


def test_only_run_watches(command):
    result = command("check", "--watch")
    assert result.code == 2 and "--watch is not an option of check; it is an option of run" in result.stderr.text
