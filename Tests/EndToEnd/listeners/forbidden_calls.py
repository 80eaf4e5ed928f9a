"""A filter for system calls, as a service manager sets one: some fail with EPERM, whatever their arguments."""

import ctypes
import platform
import struct

NUMBERS = {
    "x86_64": {"chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260},
    "aarch64": {"fchownat": 54, "fchown": 55},
}
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2
ALLOW, FAIL_WITH_EPERM = 0x7FFF0000, 0x00050001


def instruction(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)


def forbid_chown():
    """Has every way to change the owner of a file fail in this process and its children; for `preexec_fn`."""
    numbers = list(NUMBERS[platform.machine()].values())
    program = instruction(0x20, 0)  # the number of the call
    for index, number in enumerate(numbers):
        program += instruction(0x15, number, if_true=len(numbers) - index)
    program += instruction(0x06, ALLOW) + instruction(0x06, FAIL_WITH_EPERM)
    text = ctypes.create_string_buffer(program)
    filter_ = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    assert libc.prctl(SET_SECCOMP, FILTER, filter_, 0, 0) == 0
