"""Random messages mean the same to Martlet and to the published library, in both directions."""

import json
import random
import struct

import pytest
from support.wire import text

ALL = "kinds.v1.All"
LIST = 25  # the field `list` of All, which has many messages in one
TYPE = "type.googleapis.com"
EDGES = (0, 1, -1, 2**31 - 1, -(2**31), 2**32 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**64 - 1)
CHARACTERS = "ab \"\\/\b\n\r\t\0\x1f\x7f<>&'é谷\u2028\u2029\ud7ff\ue000\ufeff\uffff\U00010000\U0001f600\U0010ffff"
DOUBLES = (0.0, -0.0, 0.1, 1e15, 1e16, 1e17, 1e21, 1e22, 1e23, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308)
SPECIAL = (float("inf"), float("-inf"), float("nan"))
# Lists and maps of nulls, which the library cannot read when it has written them.
LEFT_OUT = ("nulls", "null_by_name")
# What a range of integers is called by the library.
RANGES = {1: (-(2**31), 2**31 - 1), 2: (-(2**63), 2**63 - 1), 3: (0, 2**32 - 1), 4: (0, 2**64 - 1)}


class Fuzzer:
    """Makes messages of kinds.v1.All with random values, the same for the same seed."""

    def __init__(self, classes, seed):
        self.classes = classes
        self.random = random.Random(seed)
        self.fields = [field for field in classes[ALL].DESCRIPTOR.fields if field.name not in LEFT_OUT]

    def message(self, depth=0):
        message = self.classes[ALL]()
        count = self.random.choice((0, 1, 3, 8, 20)) if depth else self.random.choice((3, 10, 30))
        for field in self.random.sample(self.fields, min(count, len(self.fields))):
            self.fill(message, field, depth)
        return message

    def fill(self, message, field, depth):
        if field.is_repeated and field.message_type and field.message_type.GetOptions().map_entry:
            key, value = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
            entries = getattr(message, field.name)
            for _ in range(self.random.randrange(4)):
                if value.message_type:
                    entries[self.scalar(key)].CopyFrom(self.message_of(value.message_type, depth))
                else:
                    entries[self.scalar(key)] = self.scalar(value)
        elif field.is_repeated:
            values = getattr(message, field.name)
            for _ in range(self.random.randrange(4)):
                values.append(self.message_of(field.message_type, depth) if field.message_type else self.scalar(field))
        elif field.message_type:
            getattr(message, field.name).CopyFrom(self.message_of(field.message_type, depth))
        else:
            setattr(message, field.name, self.scalar(field))

    def scalar(self, field):
        if field.cpp_type in RANGES:
            low, high = RANGES[field.cpp_type]
            value = self.random.choice(EDGES) if self.random.random() < 0.5 else self.random.randrange(low, high + 1)
            return value if low <= value <= high else self.random.randrange(low, high + 1)
        if field.cpp_type == field.CPPTYPE_DOUBLE:
            return self.double(SPECIAL)
        if field.cpp_type == field.CPPTYPE_FLOAT:
            # The library does not write the shortest digits of floats that are subnormal.
            value = struct.unpack("<f", self.random.randbytes(4))[0]
            return value if abs(value) > 1e-37 else self.random.choice((0.0, -0.0, 0.1, 16777216.0, *SPECIAL))
        if field.cpp_type == field.CPPTYPE_BOOL:
            return self.random.random() < 0.5
        if field.cpp_type == field.CPPTYPE_ENUM:
            if field.enum_type.name == "NullValue":
                return 0
            known = self.random.choice(field.enum_type.values).number
            return known if self.random.random() < 0.8 else self.random.randrange(-(2**31), 2**31)
        if field.type == field.TYPE_BYTES:
            return self.random.randbytes(self.random.choice((0, 1, 2, 3, 50)))
        return self.text()

    def double(self, special=()):
        if self.random.random() < 0.5:
            return self.random.choice((*DOUBLES, *special))
        value = struct.unpack("<d", self.random.randbytes(8))[0]
        return value if abs(value) <= DOUBLES[-1] else self.random.random()

    def text(self):
        return "".join(self.random.choice(CHARACTERS) for _ in range(self.random.choice((0, 1, 5, 40))))

    def message_of(self, definition, depth):
        """A message of this type, empty where it is deep enough."""
        message = self.classes[definition.full_name]()
        if definition.full_name == ALL:
            return self.message(depth + 1) if depth < 3 else message
        if definition.file.package != "google.protobuf":
            for field in self.random.sample(list(definition.fields), 3):
                self.fill(message, field, depth)
            return message
        make = getattr(self, f"fill_{definition.name}", None)
        if make:
            make(message, depth)
        elif definition.fields:
            self.fill(message, definition.fields[0], depth)
        return message

    def fill_Timestamp(self, message, depth):
        message.seconds = self.random.choice((-62135596800, 253402300799, 0, -1, self.random.randrange(-(10**10), 10**11)))
        message.nanos = self.nanos()

    def fill_Duration(self, message, depth):
        sign = self.random.choice((1, -1))
        message.seconds = sign * self.random.choice((0, 1, 315575999999, self.random.randrange(10**11)))
        message.nanos = sign * self.nanos()

    def nanos(self):
        return self.random.choice((0, 1, 1000, 120000, 500000000, 999999999, self.random.randrange(10**9)))

    def fill_FieldMask(self, message, depth):
        message.paths.extend(self.random.choice(("a", "foo_bar", "a.b_c.d", "x1")) for _ in range(self.random.randrange(4)))

    def fill_Struct(self, message, depth):
        for _ in range(self.random.randrange(4)):
            self.fill_Value(message.fields[self.text()], depth + 1)

    def fill_ListValue(self, message, depth):
        for _ in range(self.random.randrange(4)):
            self.fill_Value(message.values.add(), depth + 1)

    def fill_Value(self, message, depth):
        kind = self.random.randrange(4 if depth > 4 else 6)
        if kind == 0:
            message.null_value = 0
        elif kind == 1:
            message.number_value = self.double()
        elif kind == 2:
            message.string_value = self.text()
        elif kind == 3:
            message.bool_value = self.random.random() < 0.5
        elif kind == 4:
            message.struct_value.SetInParent()
            self.fill_Struct(message.struct_value, depth + 1)
        else:
            message.list_value.SetInParent()
            self.fill_ListValue(message.list_value, depth + 1)

    def fill_Any(self, message, depth):
        name = self.random.choice((None, ALL, "kinds.v1.Names", *(f"google.protobuf.{name}" for name in (
            "Any", "Timestamp", "Duration", "FieldMask", "Struct", "Value", "ListValue", "Int64Value", "StringValue",
            "FloatValue", "BytesValue", "Empty"))))  # fmt: skip
        if name and depth < 5:
            content = self.message_of(self.classes[name].DESCRIPTOR, depth + 1)
            message.type_url = f"{self.random.choice((TYPE, 'a.example/b', ''))}/{name}"
            message.value = content.SerializeToString(deterministic=True)


def normal(message):
    return message.SerializeToString(deterministic=True)


# Many messages are in one All, as a process for each would take long.
BATCHES = [(seed, 15) for seed in range(24)]


@pytest.fixture(scope="module", params=BATCHES, ids=lambda batch: f"seed {batch[0]}")
def batch(request, classes):
    seed, count = request.param
    fuzzer = Fuzzer(classes, seed)
    return [fuzzer.message() for _ in range(count)]


def test_json_that_martlet_writes(types, classes, batch):
    """It has the same value as what the library writes, and the library reads it as the same message."""
    wire = b"".join(text(LIST, message.SerializeToString()) for message in batch)
    written = types.decode(ALL, wire)
    members = json.loads(written)["list"]
    assert members == [json.loads(classes.json(message)) for message in batch]
    read = classes.parse(ALL, written)
    assert [shown(classes, message) for message in read.list] == [shown(classes, message) for message in batch]


def shown(classes, message):
    """What the message has: bytes that the library makes for an Any are in no certain order."""
    return json.loads(classes.json(message))


def test_json_that_the_library_writes(types, classes, batch):
    written = "[" + ",".join(classes.json(message, ensure_ascii=False) for message in batch) + "]"
    read = classes[ALL].FromString(types.encode(ALL, f'{{"list":{written}}}'))
    assert [normal(message) for message in read.list] == [normal(message) for message in batch]


def test_json_in_the_other_forms_of_the_library(types, classes, batch):
    """With defaults, names of the file, numbers for enumerations, escapes and line breaks."""
    form = {
        "preserving_proto_field_name": True,
        "always_print_fields_with_no_presence": True,
        "use_integers_for_enums": True,
        "ensure_ascii": True,
    }
    written = json.dumps([json.loads(classes.json(message, **form)) for message in batch], indent=3)
    read = classes[ALL].FromString(types.encode(ALL, f'{{"list":{written}}}'))
    assert [normal(message) for message in read.list] == [normal(message) for message in batch]


def test_json_goes_round(types, batch):
    """From the wire format to JSON and back nothing is lost, and JSON is the same the second time."""
    wire = b"".join(text(LIST, message.SerializeToString()) for message in batch)
    written = types.decode(ALL, wire)
    again = types.encode(ALL, written)
    assert types.decode(ALL, again) == written


@pytest.mark.parametrize("seed", range(6))
def test_wrong_bytes_are_wrong_for_both(types, classes, seed):
    """A message with a byte changed is an error for Martlet if it is for the library; what it is else is the same."""
    fuzzer = Fuzzer(classes, 1000 + seed)
    wire = bytearray(normal(fuzzer.message()))
    for _ in range(20):
        changed = bytearray(wire)
        place = fuzzer.random.randrange(len(changed))
        changed[place] = fuzzer.random.randrange(256)
        try:
            message = classes[ALL].FromString(bytes(changed))
            expected = classes.json(message)
        except Exception:
            expected = None
        result = types.run("types", "decode", ALL, stdin=bytes(changed))
        if expected is None:
            continue
        # JSON cannot say all that the wire format can: Martlet is stricter about masks, URLs and times.
        if result.returncode == 0:
            assert classes.parse(ALL, result.stdout.decode()) == classes.parse(ALL, expected)
        else:
            assert result.stderr.startswith(b"martlet: ")
