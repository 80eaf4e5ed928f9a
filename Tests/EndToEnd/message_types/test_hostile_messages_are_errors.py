"""A hostile message has a result or an error within seconds, and takes no more memory than a large one may."""

import json
import subprocess
import sys

import pytest
from support.martlet import BINARY, ENVIRONMENT
from support.schemas import Types, all_schemas
from support.wire import group, number, tag, text, varint

ALL = "kinds.v1.All"
OLD = "old.v1.Old"
MODERN = "modern.v1.Modern"
ANY = "google.protobuf.Any"
STRUCT = "google.protobuf.Struct"
VALUE = "google.protobuf.Value"
MIB = 1 << 20
# The seconds of a processor that a message may take. A debug build takes the half of that, a release build a tenth.
LIMIT = 20
DEEP = 10_000
DEPTH = "nested more than 100 deep"
FORMAT = "not in the wire format of Protobuf"

# Any result will do; or there has to be one.
EITHER, VALID = object(), object()


def nested_texts(count, *headers):
    """Messages in messages: the bytes before each, and how the one within is put in, from the inside out."""
    parts, size = [], 0
    for _ in range(count):
        for before, field in headers:
            header = before + tag(field, 2) + varint(size)
            parts.append(header)
            size += len(header)
    return b"".join(reversed(parts))


def any_json(count, innermost, type_last):
    """An Any in an Any and so on, each with its type first or last."""
    kind = f'"@type":"x/{ANY}"'
    opening, closing = ('{"value":', f",{kind}}}") if type_last else (f'{{{kind},"value":', "}")
    return opening * count + innermost + closing * count


LARGE = "x" * MIB
KEYS = 200_000
# How a case is called: the command, the type, what is given, and the words of the error.
CASES = {
    # Deep
    "sub-messages": ("decode", ALL, lambda: nested_texts(DEEP, (b"", 17)), DEPTH),
    "sub-messages that end early": ("decode", ALL, lambda: (tag(17, 2) + varint(1000)) * DEEP, EITHER),
    "sub-messages in lists": ("decode", ALL, lambda: nested_texts(DEEP, (b"", 25)), DEPTH),
    "sub-messages in oneofs": ("decode", ALL, lambda: nested_texts(DEEP, (b"", 21)), DEPTH),
    "sub-messages in maps": ("decode", ALL, lambda: nested_texts(DEEP, (b"", 2), (text(1, "a"), 86)), DEPTH),
    "sub-messages in extensions": ("decode", OLD, lambda: nested_texts(DEEP, (number(1, 1), 102)), DEPTH),
    "groups": ("decode", MODERN, lambda: tag(18, 3) * DEEP + tag(18, 4) * DEEP, DEPTH),
    "groups that do not end": ("decode", MODERN, lambda: tag(18, 3) * DEEP, EITHER),
    "unknown groups": ("decode", ALL, lambda: tag(9000, 3) * DEEP + tag(9000, 4) * DEEP, EITHER),
    "unknown groups that do not end": ("decode", ALL, lambda: tag(9000, 3) * 100 * DEEP, EITHER),
    "unknown groups that only end": ("decode", ALL, lambda: tag(9000, 4) * DEEP, FORMAT),
    "Any in Any": ("decode", ANY, lambda: nested_texts(DEEP, (text(1, f"x/{ANY}"), 2)), DEPTH),
    "Any in a message in an Any": ("decode", ANY, lambda: nested_texts(DEEP, (b"", 30), (text(1, f"x/{ALL}"), 2)), DEPTH),
    "structures": ("decode", STRUCT, lambda: nested_texts(DEEP, (b"", 5), (text(1, "a"), 2), (b"", 1)), DEPTH),
    "lists of lists": ("decode", VALUE, lambda: nested_texts(DEEP, (b"", 1), (b"", 6)), DEPTH),
    "JSON messages": ("encode", ALL, lambda: '{"inner":' * DEEP + "{}" + "}" * DEEP, DEPTH),
    "JSON messages that do not end": ("encode", ALL, lambda: '{"inner":' * DEEP, DEPTH),
    "JSON messages in lists": ("encode", ALL, lambda: '{"list":[' * DEEP + "]}" * DEEP, DEPTH),
    "JSON messages in maps": ("encode", ALL, lambda: '{"allByName":{"a":' * DEEP + "{}" + "}}" * DEEP, DEPTH),
    "JSON groups": ("encode", MODERN, lambda: '{"below":' * DEEP + "{}" + "}" * DEEP, DEPTH),
    "JSON extensions": ("encode", OLD, lambda: '{"[old.v1.further]":' * DEEP + "{}" + "}" * DEEP, DEPTH),
    "JSON arrays": ("encode", VALUE, lambda: "[" * DEEP + "]" * DEEP, DEPTH),
    "JSON arrays that do not end": ("encode", VALUE, lambda: "[" * 100 * DEEP, DEPTH),
    "JSON objects": ("encode", STRUCT, lambda: '{"a":' * DEEP + "1" + "}" * DEEP, DEPTH),
    "JSON arrays in a list": ("encode", ALL, lambda: '{"ints":' + "[" * DEEP + "]" * DEEP + "}", "/ints/0"),
    "JSON arrays for a message": ("encode", ALL, lambda: '{"inner":' + "[" * DEEP + "]" * DEEP + "}", "/inner"),
    "JSON arrays for a text": ("encode", ALL, lambda: '{"text":' + "[" * DEEP + "]" * DEEP + "}", "/text"),
    "JSON arrays for a time": ("encode", ALL, lambda: '{"time":' + "[" * DEEP + "]" * DEEP + "}", "/time"),
    "JSON arrays for an unknown field": ("encode", ALL, lambda: '{"x":' + "[" * DEEP + "]" * DEEP + "}", 'no field "x"'),
    "JSON arrays for a type": ("encode", ANY, lambda: '{"@type":' + "[" * DEEP + "]" * DEEP + "}", EITHER),
    "JSON arrays before a type": ("encode", ANY, lambda: '{"x":' + "[" * DEEP + "]" * DEEP + f',"@type":"x/{ALL}"}}', DEPTH),
    "JSON Any in Any": ("encode", ANY, lambda: any_json(DEEP, "{}", False), DEPTH),
    "JSON Any in Any with the types last": ("encode", ANY, lambda: any_json(DEEP, "{}", True), EITHER),
    # Wrong lengths
    "a text of 4 GiB": ("decode", ALL, lambda: tag(14, 2) + varint(2**32 - 1) + b"x", FORMAT),
    "a text of 2 GiB": ("decode", ALL, lambda: tag(14, 2) + varint(2**31 - 1) + b"x", FORMAT),
    "a message of 4 GiB": ("decode", ALL, lambda: tag(17, 2) + varint(2**32 - 1) + b"x", FORMAT),
    "packed numbers of 4 GiB": ("decode", ALL, lambda: tag(45, 2) + varint(2**32 - 8) + b"x", FORMAT),
    "an unknown field of 4 GiB": ("decode", ALL, lambda: tag(9000, 2) + varint(2**32 - 1) + b"x", FORMAT),
    "a map entry of 4 GiB": ("decode", ALL, lambda: tag(27, 2) + varint(2**32 - 1) + b"x", FORMAT),
    # Many
    "empty messages": ("decode", ALL, lambda: text(25, b"") * MIB, EITHER),
    "empty messages in JSON": ("encode", ALL, lambda: '{"list":[' + "{}," * MIB + "{}]}", EITHER),
    "empty values": ("decode", VALUE, lambda: text(6, text(1, b"") * MIB), EITHER),
    "empty values in JSON": ("encode", VALUE, lambda: "[" + "[]," * MIB + "[]]", EITHER),
    "empty texts": ("decode", ALL, lambda: text(24, b"") * MIB, EITHER),
    "empty texts in JSON": ("encode", ALL, lambda: '{"texts":[' + '"",' * MIB + '""]}', EITHER),
    "empty Anys": ("decode", ALL, lambda: text(42, b"") * MIB, EITHER),
    "small Anys": ("decode", ALL, lambda: text(42, text(1, f"x/{ALL}")) * 100_000, EITHER),
    "small Anys in JSON": ("encode", ALL, lambda: '{"anys":[' + f'{{"@type":"x/{ALL}"}},' * 100_000 + "{}]}", EITHER),
    "empty groups": ("decode", OLD, lambda: number(1, 1) + group(13, number(1, 1)) * MIB, EITHER),
    "a message in many parts": ("decode", ALL, lambda: text(17, b"") * MIB, VALID),
    "a group in many parts": ("decode", OLD, lambda: number(1, 1) + group(3) * MIB, VALID),
    "a oneof that changes": ("decode", ALL, lambda: (number(20, 1) + text(21, b"")) * MIB, EITHER),
    "a text again and again": ("decode", ALL, lambda: text(14, "abc") * MIB, VALID),
    "unknown fields": ("decode", ALL, lambda: number(9000, 1) * 4 * MIB, EITHER),
    "packed booleans": ("decode", ALL, lambda: text(73, b"\0" * 4 * MIB), EITHER),
    "packed numbers": ("decode", ALL, lambda: text(23, b"\1" * 4 * MIB), EITHER),
    "numbers in JSON": ("encode", ALL, lambda: '{"ints":[' + "1," * 4 * MIB + "1]}", EITHER),
    "equal keys": ("decode", ALL, lambda: text(27, text(1, "a") + number(2, 1)) * KEYS, VALID),
    "equal keys of messages": ("decode", ALL, lambda: text(86, text(1, "a") + text(2, text(25, b""))) * KEYS, EITHER),
    "equal keys in JSON": ("encode", ALL, lambda: '{"byName":{' + '"a":1,' * KEYS + '"a":1}}', "/byName/a"),
    "different keys": ("decode", ALL, lambda: b"".join(text(28, number(1, n)) for n in range(KEYS)), VALID),
    "different keys in JSON": (
        "encode", ALL, lambda: json.dumps({"byName": {f"key {n}": n for n in range(KEYS)}}), VALID
    ),
    "keys of a structure": ("encode", STRUCT, lambda: json.dumps({f"key {n}": n for n in range(KEYS)}), VALID),
    "paths of a mask": ("encode", ALL, lambda: '{"mask":"' + "a," * MIB + 'a"}', EITHER),
    "unknown members": ("encode", ALL, lambda: json.dumps({f"key {n}": n for n in range(KEYS)}), 'no field "key 0"'),
    "nulls of a field": ("encode", ALL, lambda: '{"text":null' + ',"text":null' * KEYS + "}", "/text"),
    # Large
    "a text of 8 MiB": ("decode", ALL, lambda: text(14, b"x" * 8 * MIB), VALID),
    "a text of 8 MiB in JSON": ("encode", ALL, lambda: '{"stringValue":"' + LARGE * 8 + '"}', VALID),
    "escapes of 8 MiB": ("encode", ALL, lambda: '{"stringValue":"' + "\\u0041\\n" * MIB + '"}', VALID),
    "a name of 8 MiB": ("encode", ALL, lambda: '{"' + LARGE * 8 + '":1}', EITHER),
    "an escaped name of 8 MiB": ("encode", ALL, lambda: '{"' + "\\u0041\\n" * MIB + '":1}', EITHER),
    "a key of 8 MiB": ("encode", ALL, lambda: '{"byName":{"' + LARGE * 8 + '":"x"}}', EITHER),
    "a number of 8 MiB": ("encode", ALL, lambda: '{"int64Value":' + "1" * 8 * MIB + "}", EITHER),
    "zeros of 8 MiB": ("encode", ALL, lambda: '{"int64Value":1.' + "0" * 8 * MIB + "}", VALID),
    "a fraction of 8 MiB": ("encode", ALL, lambda: '{"doubleValue":0.' + "1" * 8 * MIB + "}", EITHER),
    "an exponent of 8 MiB": ("encode", ALL, lambda: '{"doubleValue":1e' + "1" * 8 * MIB + "}", EITHER),
    "a time of 8 MiB": ("encode", ALL, lambda: '{"time":"2020-01-01T00:00:00.' + "1" * 8 * MIB + 'Z"}', EITHER),
    "a URL of 8 MiB": ("encode", ANY, lambda: '{"@type":"' + "/" * 8 * MIB + f'{ALL}"}}', EITHER),
    "space of 8 MiB": ("encode", ALL, lambda: " " * 8 * MIB + "{}", VALID),
    "backslashes of 8 MiB": ("encode", ALL, lambda: '{"stringValue":"' + "\\" * 8 * MIB, "the JSON ends too early"),
    "control characters of 8 MiB": ("decode", ALL, lambda: text(14, b"\1" * 8 * MIB), VALID),
    "control characters of 16 MiB": ("decode", ALL, lambda: text(14, b"\1" * 16 * MIB), "too large"),
    "bytes of 8 MiB": ("decode", ALL, lambda: text(15, b"\xff" * 8 * MIB), VALID),
    "bytes of 8 MiB in JSON": ("encode", ALL, lambda: '{"bytesValue":"' + "////" * 2 * MIB + '"}', VALID),
    "a message of more than 64 MiB": ("decode", ALL, lambda: text(14, b"x" * 64 * MIB), "64"),
    "JSON of more than 64 MiB": ("encode", ALL, lambda: " " * (64 * MIB + 1), "64"),
    # To read again
    "an Any 60 deep with 1 MiB": (
        "encode", ANY, lambda: any_json(60, f'{{"stringValue":"{LARGE}","@type":"x/{ALL}"}}', True), EITHER
    ),
    "an Any 60 deep with 1 MiB, the types first": (
        "encode", ANY, lambda: any_json(60, f'{{"@type":"x/{ALL}","stringValue":"{LARGE}"}}', False), VALID
    ),
    "an Any 60 deep with 300 000 numbers": (
        "encode", ANY, lambda: any_json(60, '{"ints":[' + "1," * 300_000 + f'1],"@type":"x/{ALL}"}}', True), EITHER
    ),
    "an Any 60 deep on the wire": (
        "decode", ANY, lambda: deep_any(60, text(1, f"x/{ALL}") + text(2, text(14, LARGE))), VALID
    ),
    "an Any with its type behind 8 MiB": (
        "encode", ANY, lambda: '{"stringValue":"' + LARGE * 8 + f'","@type":"x/{ALL}"}}', VALID
    ),
}  # fmt: skip


def deep_any(count, innermost):
    for _ in range(count):
        innermost = text(1, f"x/{ANY}") + text(2, innermost)
    return innermost


# Starts a program and says what it has used. A process counts the memory of the one that it is forked from as its own,
# and that of the tests is large.
LAUNCHER = """
import os, sys
pid = os.fork() or os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime, file=file)
"""


def measured(types, action, name, given, directory):
    """Runs a conversion; returns its exit code, its errors, its peak of resident bytes, and the seconds of a processor."""
    files = [directory / stream for stream in ("in", "out", "err")]
    files[0].write_bytes(given.encode() if isinstance(given, str) else given)
    command = [sys.executable, "-ISc", LAUNCHER, directory / "usage", BINARY, "types", "-c", types.file, action, name]
    with files[0].open("rb") as stdin, files[1].open("wb") as stdout, files[2].open("wb") as stderr:
        subprocess.run(command, stdin=stdin, stdout=stdout, stderr=stderr, env=ENVIRONMENT, check=True)
    code, peak, seconds = (directory / "usage").read_text().split()
    files[0].unlink()
    return int(code), files[2].read_text(errors="replace"), int(peak), float(seconds)


def check(types, action, name, given, expected, directory):
    code, words, peak, seconds = measured(types, action, name, given, directory)
    print(f"exit code {code} after {seconds:.2f} s and {peak / MIB:.0f} MiB: {words[:300]}")
    if code == 0:
        assert expected in (EITHER, VALID) and words == ""
    else:
        assert code == 1 and expected is not VALID
        assert words.startswith("martlet: ") and words.count("\n") == 1
        assert expected is EITHER or expected in words
        # An error is for people: it has no text of megabytes.
        assert len(words) < 10_000
        assert (directory / "out").stat().st_size == 0
    assert peak < 700 * MIB
    assert seconds < LIMIT


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_message(types, tmp_path, case):
    action, name, given, expected = CASES[case]
    check(types, action, name, given(), expected, tmp_path)


@pytest.mark.parametrize("case", [case for case in CASES if "60 deep" in case])
def test_what_is_read_again_is_not_read_many_times(types, tmp_path, case):
    action, name, given, _ = CASES[case]
    *_, seconds = measured(types, action, name, given(), tmp_path)
    assert seconds < 5


# The same where unknown members are left out: each has to be skipped.
SKIPPED = {
    "arrays": (ALL, lambda: '{"x":' + "[" * DEEP + "]" * DEEP + "}", DEPTH),
    "arrays that do not end": (ALL, lambda: '{"x":' + "[" * 100 * DEEP, DEPTH),
    "objects": (ALL, lambda: '{"x":' + '{"y":' * DEEP + "1" + "}" * DEEP + "}", DEPTH),
    "members": (ALL, lambda: json.dumps({f"key {n}": n for n in range(KEYS)} | {"text": "a"}), VALID),
    "equal members": (ALL, lambda: '{"x":1' + ',"x":1' * KEYS + ',"text":"a"}', VALID),
    "elements": (ALL, lambda: '{"x":[' + "0," * MIB + '0],"text":"a"}', VALID),
    "a text of 8 MiB": (ALL, lambda: '{"x":"' + LARGE * 8 + '","text":"a"}', VALID),
    "members of an Any": (
        ANY, lambda: "{" + '"x":1,' * KEYS + f'"@type":"x/{ALL}","text":"a"}}', VALID
    ),
    "Anys in Anys": (ANY, lambda: any_json(60, '{"x":[' + "0," * 300_000 + f'0],"@type":"x/{ALL}"}}', True), EITHER),
}  # fmt: skip


@pytest.mark.parametrize("case", SKIPPED)
def test_a_hostile_message_of_which_much_is_left_out(binary, tmp_path, case):
    name, given, expected = SKIPPED[case]
    types = Types(tmp_path / "types", all_schemas(), options=", unknown_fields: drop")
    check(types, "encode", name, given(), expected, tmp_path)


def test_a_large_message_goes_round(types):
    """Eight MiB of text of every sort come back as they were."""
    for part in ("x", "é", "谷", "\U0001f600", '\\"', "\x7f\0\n"):
        content = part * (8 * MIB // len(part.encode()))
        wire = text(14, content)
        written = types.decode(ALL, wire)
        assert json.loads(written) == {"stringValue": content}
        assert types.encode(ALL, written) == wire
