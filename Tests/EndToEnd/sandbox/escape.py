"""What a program tries that has taken over the daemon, or was started by it: escape.py RESULTS READABLE WRITABLE ABSTRACT PORT PID.

Each attempt does something that no sandbox would be needed for, were it not possible; the results are `ok` or an errno.
"""

import ctypes
import errno
import json
import os
import platform
import resource
import signal
import socket
import sys
from pathlib import Path

NEW_USER, NEW_MOUNTS, PARENT_SIGNALS = 0x10000000, 0x00020000, 17
NUMBERS = {
    "x86_64": {"bpf": 321, "keyctl": 250, "perf_event_open": 298, "ptrace": 101, "userfaultfd": 323, "clone": 56},
    "aarch64": {"bpf": 280, "keyctl": 219, "perf_event_open": 241, "ptrace": 117, "userfaultfd": 282, "clone": 220},
}[platform.machine()] | {"io_uring_setup": 425, "process_vm_readv": 310 if platform.machine() == "x86_64" else 270}
libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def call(name, *arguments):
    checked(libc.syscall(NUMBERS[name], *(ctypes.c_long(argument) for argument in arguments)))


def set_user_id_program(directory):
    path = Path(directory) / "set_user_id"
    path.touch()
    path.chmod(0o4755)


def namespace_of_a_child():
    child = libc.syscall(NUMBERS["clone"], ctypes.c_long(NEW_USER | PARENT_SIGNALS), 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    checked(child)


def fast_open(port):
    # With a time limit it would be "in progress".
    with socket.socket() as connection:
        connection.sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", port))


def connect_abstract(name):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"\0{name}")


def datagram_pair():
    for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        end.close()


def attempts(results, readable, writable, abstract, port, outside):
    return {
        "read a file": lambda: Path(readable).read_text(),
        "write a file": lambda: Path(writable, "new").write_text(""),
        "make a directory": lambda: Path(writable, "directory").mkdir(),
        "remove a file": lambda: Path(writable, "old").unlink(),
        "shorten a file": lambda: os.truncate(Path(writable, "long"), 0),
        "make a set-user-ID program": lambda: set_user_id_program(Path(results).parent),
        "signal a process outside": lambda: os.kill(outside, 0),
        "read the environment of another process": lambda: Path(f"/proc/{outside}/environ").read_bytes(),
        "mount": lambda: checked(libc.mount(b"none", b"/not/there", b"tmpfs", 0, None)),
        "unshare": lambda: checked(libc.unshare(NEW_MOUNTS)),
        "clone with a namespace": namespace_of_a_child,
        "ptrace": lambda: call("ptrace", 0, 0, 0, 0),
        "bpf": lambda: call("bpf", 0, 0, 0),
        "keyctl": lambda: call("keyctl", 0, -3, 0),
        "perf_event_open": lambda: call("perf_event_open", 0, 0, 0, 0, 0),
        "userfaultfd": lambda: call("userfaultfd", -1),
        "io_uring": lambda: call("io_uring_setup", 0, 0),
        "process_vm_readv": lambda: call("process_vm_readv", outside, 0, 0, 0, 0, 0),
        "a netlink socket": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 0).close(),
        "a packet socket": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0).close(),
        "a raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close(),
        "a Unix socket": lambda: socket.socket(socket.AF_UNIX).close(),
        "a pair of datagram sockets": datagram_pair,
        "connect to an abstract socket": lambda: connect_abstract(abstract),
        "SCTP": lambda: socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET).close(),
        "SCTP over IPv6": lambda: socket.socket(socket.AF_INET6, socket.SOCK_SEQPACKET).close(),
        "multipath TCP": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).close(),
        "limit another process": lambda: resource.prlimit(outside, resource.RLIMIT_CORE, (0, 0)),
        "connect by fast open": lambda: fast_open(port),
        "connect to a port": lambda: socket.create_connection(("127.0.0.1", port), timeout=5).close(),
    }


def outcome(attempt):
    try:
        attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    return "ok"


def main(results, readable, writable, abstract, *numbers):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    tried = attempts(results, readable, writable, abstract, *map(int, numbers))
    found = {name: outcome(attempt) for name, attempt in tried.items()}
    new = Path(results + ".new")
    new.write_text(json.dumps(found))
    new.rename(results)
    print("token")


if __name__ == "__main__":
    main(*sys.argv[1:])
