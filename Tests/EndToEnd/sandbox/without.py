"""Runs a program on a kernel that lacks some system calls: python without.py NUMBER=ERRNO … -- PROGRAM ARGUMENT …"""

import ctypes
import os
import struct
import sys

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2


def main(words):
    split = words.index("--")
    steps = [(LOAD, 0, 0, 0)]
    for number, error in (map(int, word.split("=")) for word in words[:split]):
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, FAIL | error)]
    steps.append((RETURN, 0, 0, ALLOW))
    text = b"".join(struct.pack("HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(SECCOMP, FILTER, program, 0, 0) == 0, os.strerror(ctypes.get_errno())
    os.execv(words[split + 1], words[split + 1 :])


main(sys.argv[1:])
