"""Protobuf's own conformance list holds: its cases for messages in the wire format that are written as JSON, by their names.

As in the list, the names of kinds of fields are part of the names of cases.
"""

import json
import struct

import pytest
from google.protobuf.descriptor import FieldDescriptor
from support.wire import eight, four, group, number, tag, text, varint

ALL = "kinds.v1.All"
OTHERS = "kinds.v1.Others"
MODERN = "modern.v1.Modern"
MAX, MIN = 2**63 - 1, -(2**63)


def zigzag(value):
    return varint(value << 1 ^ value >> 63)


def sized(content):
    content = content.encode() if isinstance(content, str) else content
    return varint(len(content)) + content


def fixed(form, *values):
    return [struct.pack(form, value) for value in values]


LONG = [varint(12345, 4), varint(12345, 9)]
# The values of each kind on the wire, in the order of the list. The first one is the default.
VALUES = {
    "DOUBLE": fixed("<d", 0, 0.1, 1.7976931348623157e308, 2.22507385850720138309e-308),
    "FLOAT": fixed("<f", 0, 0.1, 1.00000075e-36, 3.402823e38, 1.17549435e-38),
    "INT64": [varint(value) for value in (0, 12345, MAX, MIN)],
    "UINT64": [varint(value) for value in (0, 12345, 2**64 - 1)],
    "INT32": [b"\0", varint(12345), *LONG, *map(varint, (2**31 - 1, -(2**31), 2**33, 2**33 - 1, MAX, MIN + 1))],
    "UINT32": [b"\0", varint(12345), *LONG, *map(varint, (2**32 - 1, 2**33, 2**33 + 1, 2**33 - 1, MAX, MIN + 1))],
    "FIXED64": fixed("<Q", 0, 12345, 2**64 - 1),
    "FIXED32": fixed("<I", 0, 12345, 2**32 - 1),
    "SFIXED64": fixed("<q", 0, 12345, MAX, MIN),
    "SFIXED32": fixed("<i", 0, 12345, 2**31 - 1, -(2**31)),
    "BOOL": [varint(value) for value in (0, 1, -1, 12345678, 2**33, MAX, MIN)],
    "SINT32": [zigzag(value) for value in (0, 12345, 2**31 - 1, -(2**31), 2**31 + 1)],
    "SINT64": [zigzag(value) for value in (0, 12345, MAX, MIN)],
    "STRING": [sized(value) for value in ("", "Hello world!", "'\"?\\\a\b\f\n\r\t\v", "谷歌", "谷歌", "谷歌", "\U0001f601")],
    "BYTES": [sized(value) for value in (b"", b"Hello world!", b"\1\2", b"\xfb")],
    "ENUM": [varint(value) for value in (0, 1, 5, -1, MAX, MIN + 1)],
    # Field 5 is a number in both types.
    "MESSAGE": [sized(b""), sized(number(5, 1234))],
}
DELIMITED = ("STRING", "BYTES", "MESSAGE")
WIRE_TYPES = {"DOUBLE": 1, "FIXED64": 1, "SFIXED64": 1, "FLOAT": 5, "FIXED32": 5, "SFIXED32": 5, **dict.fromkeys(DELIMITED, 2)}
# The fields of All that are neither lists nor in a oneof, in the order of their numbers.
SINGLE = "BOOL INT32 INT64 UINT32 UINT64 SINT32 SINT64 FIXED32 FIXED64 SFIXED32 SFIXED64 FLOAT DOUBLE STRING BYTES ENUM MESSAGE".split()
ONEOFS = "UINT32 BOOL UINT64 FLOAT DOUBLE STRING BYTES ENUM MESSAGE".split()
# The kinds of the keys and values of the maps of Others, in the order of their numbers.
MAPS = [
    *((kind, kind) for kind in "INT32 INT64 UINT32 UINT64 SINT32 SINT64 FIXED32 FIXED64 SFIXED32 SFIXED64".split()),
    *(("INT32", "FLOAT"), ("INT32", "DOUBLE"), ("BOOL", "BOOL")),
    *(("STRING", kind) for kind in ("STRING", "BYTES", "ENUM", "MESSAGE")),
]


def default(kind, field):
    return tag(field, WIRE_TYPES.get(kind, 0)) + VALUES[kind][0]


def other(kind, field):
    """A field with a value that is not the default: the number 1, the text "a" or a message with a number."""
    numbers = {"DOUBLE": struct.pack("<d", 1), "FLOAT": struct.pack("<f", 1), "SINT32": zigzag(1), "SINT64": zigzag(1)}
    ones = {**numbers, "MESSAGE": VALUES["MESSAGE"][1]}
    value = ones.get(kind) or (sized("a") if kind in DELIMITED else b"\1" + VALUES[kind][0][1:])
    return tag(field, WIRE_TYPES.get(kind, 0)) + value


def single_cases(kind):
    field, values = SINGLE.index(kind) + 1, VALUES[kind]
    fields = [tag(field, WIRE_TYPES.get(kind, 0)) + value for value in values]
    for index, wire in enumerate(fields):
        yield f"ValidDataScalar.{kind}[{index}]", ALL, wire
    if kind != "MESSAGE":
        yield f"RepeatedScalarSelectsLast.{kind}", ALL, b"".join(fields)


def list_cases(kind):
    field, values = getattr(FieldDescriptor, f"TYPE_{kind}"), VALUES[kind]
    unpacked = b"".join(tag(field, WIRE_TYPES.get(kind, 0)) + value for value in values)
    if kind in DELIMITED:
        yield f"ValidDataRepeated.{kind}", OTHERS, unpacked
    else:
        yield f"ValidDataRepeated.{kind}.UnpackedInput", OTHERS, unpacked
        yield f"ValidDataRepeated.{kind}.PackedInput", OTHERS, text(field, b"".join(values))


def map_cases(key, value):
    key1, value1, key2, value2 = default(key, 1), default(value, 2), other(key, 1), other(value, 2)
    for form, entries in {
        "Default": [key1 + value1],
        "MissingDefault": [b""],
        "NonDefault": [key2 + value2],
        "Unordered": [value2 + key2],
        "DuplicateKey": [key2 + value1, key2 + value2],
        "DuplicateKeyInMapEntry": [key1 + key2 + value2],
        "DuplicateValueInMapEntry": [key2 + value1 + value2],
    }.items():
        wire = b"".join(text(41 + MAPS.index((key, value)), entry) for entry in entries)
        yield f"ValidDataMap.{key}.{value}.{form}", OTHERS, wire


def oneof_field(kind):
    return 20 + getattr(FieldDescriptor, f"TYPE_{kind}")


def oneof_cases(kind):
    field, another = oneof_field(kind), "DOUBLE" if kind == "UINT32" else "UINT32"
    for form, wire in {
        "DefaultValue": default(kind, field),
        "NonDefaultValue": other(kind, field),
        "MultipleValuesForSameField": default(kind, field) + other(kind, field),
        "MultipleValuesForDifferentField": default(another, oneof_field(another)) + other(kind, field),
    }.items():
        yield f"ValidDataOneof.{kind}.{form}", OTHERS, wire
    yield f"OneofZero{kind.capitalize()}", OTHERS, default(kind, field)


def inner(*fields):
    """A message of kinds.v1.All in another."""
    return text(17, b"".join(fields))


def oneof_message(*fields):
    """A message of a oneof in another."""
    return text(31, text(31, b"".join(fields)))


CASES = {
    name: (type_name, wire)
    for cases in (
        *map(single_cases, SINGLE),
        *map(list_cases, VALUES),
        *(map_cases(*kinds) for kinds in MAPS),
        *map(oneof_cases, ONEOFS),
    )
    for name, type_name, wire in cases
} | {
    "OneofZeroMessageSetTwice": (OTHERS, text(31, b"") + text(31, number(5, 1))),
    "ValidBytes": (ALL, text(15, "foo")),
    "ValidMap.Bytes": (OTHERS, text(55, text(1, "foo") + text(2, "barbaz"))),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_what_the_published_library_writes(types, classes, case):
    name, wire = CASES[case]
    expected = json.loads(classes.json(classes[name].FromString(wire)))
    assert json.loads(types.decode(name, wire)) == expected


NUMBERS = number(2, 1234), number(3, 1234), number(23, 1234)
REQUIRED = number(3, 1)
# How the list calls a case: its type, its bytes, and the JSON.
WRITTEN = {
    "RepeatedScalarMessageMerge": (
        ALL,
        inner(inner(*NUMBERS)) + inner(inner(number(2, 4321), number(4, 4321), number(23, 4321))),
        {"inner": {"inner": {"int32Value": 4321, "int64Value": "1234", "uint32Value": 4321, "ints": [1234, 4321]}}},
    ),
    # The last value of a key replaces the first. It is not merged with it.
    "ValidDataMap.STRING.MESSAGE.MergeValue": (
        ALL,
        b"".join(text(86, text(1, "") + text(2, inner(number(field, 1), number(23, 1)))) for field in (2, 3)),
        {"allByName": {"": {"inner": {"int64Value": "1", "ints": [1]}}}},
    ),
    "ValidDataOneof.MESSAGE.Merge": (
        OTHERS,
        oneof_message(number(13, 1), number(33, 1), number(5, 1)) + oneof_message(number(33, 2), number(5, 2)),
        {"oneMessage": {"oneMessage": {"int32s": [1, 2], "uint32s": [1], "oneUint32": 2}}},
    ),
    "FloatFieldNormalizeQuietNan": (ALL, four(12, struct.pack("<I", 0x7FA12345)), {"floatValue": "NaN"}),
    "FloatFieldNormalizeSignalingNan": (ALL, four(12, struct.pack("<I", 0xFFB54321)), {"floatValue": "NaN"}),
    "DoubleFieldNormalizeQuietNan": (ALL, eight(13, struct.pack("<Q", 0x7FFA123456789ABC)), {"doubleValue": "NaN"}),
    "DoubleFieldNormalizeSignalingNan": (ALL, eight(13, struct.pack("<Q", 0xFFFBCBA987654321)), {"doubleValue": "NaN"}),
    "ValidNonMessage": (MODERN, REQUIRED + number(1, 99), {"explicit": 99, "required": 1}),
    "ValidLengthPrefixedField": (MODERN, REQUIRED + text(7, number(1, 99)), {"required": 1, "prefixed": {"size": 99}}),
    "ValidMap.Integer": (MODERN, REQUIRED + text(12, text(1, "a") + number(2, 2)), {"required": 1, "zeroedByName": {"a": "ZEROED_TWO"}}),
    "ValidMap.LengthPrefixed": (
        MODERN,
        REQUIRED + text(21, number(1, 99) + text(2, number(1, 87))),
        {"required": 1, "partByNumber": {"99": {"size": 87}}},
    ),
    "ValidDelimitedField.GroupLike": (MODERN, REQUIRED + group(6, number(1, 99)), {"required": 1, "part": {"size": 99}}),
    "ValidDelimitedField.NotGroupLike": (MODERN, REQUIRED + group(20, number(1, 99)), {"required": 1, "chosen": {"size": 99}}),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_it_is_written_as(types, classes, case):
    name, wire, expected = WRITTEN[case]
    assert json.loads(types.decode(name, wire)) == expected
    assert json.loads(classes.json(classes[name].FromString(wire))) == expected
