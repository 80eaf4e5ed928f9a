"""The release binary loads libraries from the system's directories, and its address tables are read-only."""

import os
import re
import subprocess

import pytest


def test_no_library_is_loaded_from_beside_it(readelf):
    assert "RUNPATH" not in readelf("-d") and "RPATH" not in readelf("-d")


def test_addresses_are_bound_at_startup_and_then_read_only(readelf):
    assert "GNU_RELRO" in readelf("-l")
    (flags,) = [line for line in readelf("-d").splitlines() if "(FLAGS_1)" in line]
    assert "NOW" in flags.split()
    ((start, size),) = re.findall(r"GNU_RELRO\s+\S+ (0x\w+) \S+ \S+ (0x\w+)", readelf("-l"))
    for address in re.findall(r"\.got\S*\s+PROGBITS\s+(\w+)", readelf("-S")):
        assert 0 <= int(address, 16) - int(start, 16) < int(size, 16)


def test_it_is_position_independent(readelf):
    assert "DYN" in readelf("-h")


def test_nothing_writable_is_executed(readelf):
    segments = [line.split() for line in readelf("-l").splitlines() if line.startswith(("  LOAD", "  GNU_STACK"))]
    assert len(segments) > 3
    for segment in segments:
        flags = "".join(segment[6:-1])
        assert not ("W" in flags and "E" in flags), segment


def test_it_has_a_build_id_and_a_symbol_file_with_the_same_id(readelf, binary, command):
    symbols = f"{binary}.debug"
    if not os.path.exists(symbols):
        pytest.skip("the symbol file is kept elsewhere")
    (build,) = [line.split()[-1] for line in readelf("-n").splitlines() if "Build ID" in line]
    assert build in subprocess.check_output(["readelf", "-n", symbols], text=True)
    assert ".debug_line" in subprocess.check_output(["readelf", "-SW", symbols], text=True)
    assert f"\nbuild {build}\n" in command("-V").stdout.text
