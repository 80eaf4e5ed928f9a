"""A program gets the standard streams, the limits and the environment that Martlet was started with, and where to call."""

import os
import socket

from support.passed_sockets import passing

LISTENERS = """
listeners:
  - 127.0.0.1:0
  - unix:{path}
  - 127.0.0.1:0
upstream: http://127.0.0.1:9
"""
OWN = {
    "NOTIFY_SOCKET": "/nowhere",
    "WATCHDOG_USEC": "1000000000",
    "WATCHDOG_PID": "1",
    "CREDENTIALS_DIRECTORY": "/nowhere",
    "LISTEN_PIDFDID": "1",
    "FDSTORE": "3",
}


def variables(proxy):
    assert proxy.exit_code() == 0
    return dict(line.split("=", 1) for line in proxy.stdout if "=" in line)


def test_no_descriptor_beside_the_standard_streams(job, program_of):
    proxy = job("sleep", "60")
    assert sorted(os.listdir(f"/proc/{program_of(proxy)}/fd")) == ["0", "1", "2"]


def test_no_socket_of_the_service_manager(job, program_of):
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        with passing([("web", one.fileno()), ("other", two.fileno())]) as options:
            proxy = job("sleep", "60", configuration="listen: systemd:web\nupstream: http://127.0.0.1:9\n", **options)
            assert sorted(os.listdir(f"/proc/{program_of(proxy)}/fd")) == ["0", "1", "2"]
            assert not [line for line in environment_of(program_of(proxy)) if line.startswith("LISTEN_")]


def environment_of(number):
    with open(f"/proc/{number}/environ") as file:
        return file.read().split("\0")


def test_the_limits(job):
    proxy = job("cat", "/proc/self/limits", through=["prlimit", "--nofile=100:5000", "--core=1000:2000"])
    assert proxy.exit_code() == 0
    assert proxy.stdout.wait(r"Max open files\s+(\d+)\s+(\d+)").groups() == ("100", "5000")
    assert proxy.stdout.wait(r"Max core file size\s+(\d+)\s+(\d+)").groups() == ("1000", "2000")


def test_the_environment_without_what_is_for_martlet_alone(job):
    found = variables(job("env", environment=OWN | {"OTHER": "1", "RUNTIME_DIRECTORY": "/nowhere"}))
    assert found.keys() & OWN.keys() == set()
    assert (found["OTHER"], found["RUNTIME_DIRECTORY"]) == ("1", "/nowhere")


def test_the_addresses_of_the_listeners(job, tmp_path):
    proxy = job("env", configuration=LISTENERS.format(path=tmp_path / "rpc.sock"), environment={"MARTLET_ADDRESS": "old"})
    found = {name: value for name, value in variables(proxy).items() if name.startswith("MARTLET_")}
    first, path, last = proxy.addresses
    assert path == f"unix:{tmp_path}/rpc.sock"
    assert found == {"MARTLET_ADDRESS": first, "MARTLET_ADDRESS_1": first, "MARTLET_ADDRESS_2": path, "MARTLET_ADDRESS_3": last}


def test_localhost_is_one_address(job):
    found = variables(job("env", configuration="listen: localhost:0\nupstream: http://127.0.0.1:9\n"))
    assert "MARTLET_ADDRESS_1" in found and "MARTLET_ADDRESS_2" not in found


def test_many_listeners(job, tmp_path):
    # More variables than a pipe holds.
    paths = [tmp_path / ("x" * 40 + str(number)) for number in range(700)]
    listeners = "".join(f"  - unix:{path}\n" for path in paths)
    found = variables(job("env", configuration=f"listeners:\n{listeners}upstream: http://127.0.0.1:9\n", admin=False))
    assert found["MARTLET_ADDRESS_700"] == f"unix:{paths[-1]}"


def test_closed_standard_streams_stay_usable(job):
    proxy = job("ls", "-l", "/proc/self/fd", through=["sh", "-c", 'exec "$@" <&-', "sh"])
    assert proxy.exit_code() == 0
    assert "0 -> /dev/null" in proxy.stdout.text
