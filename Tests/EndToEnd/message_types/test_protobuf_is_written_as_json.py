"""Messages in the wire format are written as ProtoJSON, as the published library writes them."""

import itertools
import json

import pytest
from google.protobuf import text_format
from support.schemas import Types, all_schemas
from support.wire import eight, four, group, nested, number, tag, text, varint

ALL = "kinds.v1.All"
NAMES = "kinds.v1.Names"
ORDER = "kinds.v1.Order"
OLD = "old.v1.Old"
LOOSE = "old.v1.Loose"
MODERN = "modern.v1.Modern"
ANY = "google.protobuf.Any"
STRUCT = "google.protobuf.Struct"
TYPE = "type.googleapis.com"

# A message of each sort, as Protobuf's text format has it.
MESSAGES = {
    "empty": (ALL, ""),
    "numbers": (
        ALL,
        """
        bool_value: true int32_value: -2147483648 int64_value: -9223372036854775808 uint32_value: 4294967295
        uint64_value: 18446744073709551615 sint32_value: -1 sint64_value: 9007199254740993 fixed32_value: 7
        fixed64_value: 9007199254740993 sfixed32_value: -7 sfixed64_value: -9007199254740993
        """,
    ),
    "zeros": (ALL, "int32_value: 0 string_value: '' bool_value: false colour: NONE ints: 0 texts: ''"),
    "optional zeros": (ALL, "maybe: 0 maybe_text: '' maybe_bool: false maybe_bytes: '' maybe_colour: NONE maybe_double: 0"),
    "minus zero": (ALL, "float_value: -0.0 double_value: -0.0 doubles: [0.0, -0.0]"),
    "not a number": (ALL, "float_value: nan double_value: nan floats: [inf, -inf] doubles: [-inf, inf, nan]"),
    "float": (ALL, "float_value: 0.1 floats: [1e-38, 3.4028235e38, 16777216, 1.17549435e-38, 1e10, 1e16, 123456.79]"),
    "double": (
        ALL,
        "doubles: [0.1, 5e-324, 1.7976931348623157e308, 1e15, 1e16, 1e17, 1e21, 1e22, 1e23, 123456789012345680, 1e-5, 1e-7]",
    ),
    "text": (ALL, r"""string_value: "\"\\/\b\f\n\r\t\001\037\177<>&' \342\200\250\342\200\251 \303\251\360\237\230\200\000" """),
    "texts": (ALL, "texts: ['', 'a', 'é'] by_name { key: 'é\"\\n' value: 1 }"),
    "bytes": (ALL, r"bytes_value: '\000\377\376' many_bytes: ['', 'a', 'ab', 'abc', '\373\377']"),
    "enumerations": (ALL, "colour: BLUE colours: [NONE, RED, BLUE, DARKEST] alias: UNO colours_by_name { key: 'a' value: RED }"),
    "unknown enumerations": (ALL, "colour: 99 colours: [2, -5] colours_by_name { key: 'a' value: 77 } maybe_colour: 3"),
    "oneof text": (ALL, "text: ''"),
    "oneof number": (ALL, "number: 0"),
    "oneof message": (ALL, "below {}"),
    "oneof null": (ALL, "nothing: NULL_VALUE"),
    "oneof value": (ALL, "anything { null_value: NULL_VALUE }"),
    "lists": (ALL, "ints: [1, 2] int64s: [1, -1] uint64s: 1 sint32s: -1 fixed64s: 5 bools: [true, false] unpacked: [1, 2]"),
    "messages": (ALL, "inner { inner { int32_value: 1 } } list {} list { int32_value: 2 } empty {}"),
    "maps": (
        ALL,
        """
        by_name { key: "b" value: 1 } by_name { key: "a" value: 0 } by_name { value: 3 }
        by_number { key: -1 value: "minus" } by_number { key: 9223372036854775807 value: "max" }
        by_bool { key: true value {} } by_bool { key: false value { int32_value: 1 } }
        time_by_number { key: 18446744073709551615 value {} } double_by_number { key: 1 value: nan }
        bytes_by_number { key: 4294967295 value: "x" } bool_by_number { key: -5 value: true }
        float_by_number { key: 3 value: 0.1 } value_by_name { key: "a" value { null_value: NULL_VALUE } }
        all_by_name { key: "a" value { all_by_name { key: "b" value {} } } } wrapped_by_name { key: "a" value {} }
        """,
    ),
    "wrappers": (
        ALL,
        """
        wrapped_int64 { value: -1 } wrapped_string {} wrapped_bool { value: true } wrapped_double { value: inf }
        wrapped_bytes { value: "x" } wrapped_uint32 {} wrapped_float { value: 0.1 } wrapped_int32 { value: 3 }
        wrapped_uint64 { value: 18446744073709551615 } many_wrapped {} many_wrapped { value: 2 }
        """,
    ),
    "times": (
        ALL,
        """
        time {} times { seconds: -62135596800 } times { seconds: 253402300799 nanos: 999999999 }
        times { seconds: -1 nanos: 500000000 } times { nanos: 1000 } times { nanos: 1 } times { nanos: 120000000 }
        times { seconds: 951782400 } times { seconds: 1582934400 } times { seconds: -2208988800 }
        """,
    ),
    "durations": (
        ALL,
        """
        duration {} durations { seconds: 1 nanos: 500000000 } durations { nanos: -500000000 }
        durations { seconds: -1 nanos: -1 } durations { seconds: 315576000000 } durations { seconds: -315576000000 }
        durations { nanos: 1000 } durations { nanos: 100000000 }
        """,
    ),
    "masks": (ALL, "mask { paths: 'foo_bar' paths: 'a.b_c.d' } masks {} masks { paths: 'a1' }"),
    "structures": (
        ALL,
        """
        structure { fields { key: "a" value { number_value: 1.5 } } fields { key: "b" value { list_value { values {
          string_value: "x" } values { null_value: NULL_VALUE } } } } fields { key: "c" value { struct_value {} } } }
        value { bool_value: false } values { values { number_value: -0.0 } values { struct_value { fields {
          key: "" value { string_value: "" } } } } }
        many_values { null_value: NULL_VALUE } many_values { number_value: 1e300 } lists {} structures {}
        """,
    ),
    "value without a kind": (ALL, "value {} many_values {}"),
    "nulls": (ALL, "nulls: NULL_VALUE nulls: NULL_VALUE maybe_null: NULL_VALUE"),
    "any": (ALL, f"any {{ [{TYPE}/{ALL}] {{ int32_value: 1 list {{}} }} }}"),
    "any of any": (ALL, f"any {{ [{TYPE}/{ANY}] {{ [a.b/{NAMES}] {{ fieldname1: 1 }} }} }}"),
    "any of well-known types": (
        ALL,
        f"""
        anys {{ [{TYPE}/google.protobuf.Duration] {{ seconds: 1 }} }} anys {{ [{TYPE}/{STRUCT}] {{}} }}
        anys {{ [{TYPE}/google.protobuf.Int64Value] {{ value: 5 }} }} anys {{ [{TYPE}/google.protobuf.Empty] {{}} }}
        anys {{ [{TYPE}/google.protobuf.Value] {{ null_value: NULL_VALUE }} }}
        anys {{ [{TYPE}/google.protobuf.FieldMask] {{ paths: "a_b" }} }} anys {{}}
        any_by_number {{ key: -3 value {{ [{TYPE}/google.protobuf.Timestamp] {{}} }} }}
        """,
    ),
    "any of proto2": (ALL, f"any {{ [{TYPE}/{OLD}] {{ id: 1 [old.v1.extra]: 'x' Part {{ size: 1 }} }} }}"),
    "name of its own": (ALL, "custom: 1"),
    "names": (NAMES, " ".join(f"{name}: {n}" for n, name in enumerate(
        "fieldname1 field_name2 _field_name3 field__name4_ field0name5 field_0_name6 fieldName7 FieldName8 field_Name9 "
        "Field_Name10 FIELD_NAME11 FIELD_name12 __field_name13 __Field_name14 field__name15 field__Name16 field_name17__ "
        "Field_name18__ quoted".split(), 1))),
    "order": (ORDER, "last: 5 first: 1 second: 2 seven: 7 six: 6"),
    "proto2": (OLD, "id: 0 name: 'none' closed: TWO packed: [1, 2] unpacked: 3 closeds: [ONE, TWO] ratio: inf raw: 'x'"),
    "groups": (OLD, "id: 1 Part { size: 2 Deeper { depth: 3 } } Piece { weight: 1 } Piece { weight: 2 }"),
    "extensions": (
        OLD,
        """
        id: 1 [old.v1.extra]: "x" [old.v1.more]: [1, 2] [old.v1.packed_more]: [3] [old.v1.closed_extra]: TWO
        [old.v1.further] { id: 2 [old.v1.extra]: "y" } [old.v1.added] { depth: 1 } [old.v1.Scope.scope] { width: 1 }
        """,
    ),
    "editions": (
        MODERN,
        """
        explicit: 0 required: 1 packed: [1, 2] expanded: [3, 4] part { size: 1 } prefixed { name: "a" } parts {}
        parts { size: 2 } open: 9 shut: SHUT_TWO shuts: [SHUT_ONE] zeroed_by_name { key: "a" value: ZEROED_TWO }
        checked: "é" unchecked: "é" time { seconds: 1 } with_default: 7 below { required: 2 } chosen { size: 3 }
        part_by_number { key: -1 value { size: 1 } } [modern.v1.added] { size: 4 } [modern.v1.numbers]: [1, 2]
        """,
    ),
}  # fmt: skip


def message(classes, case):
    name, written = MESSAGES[case]
    return text_format.Parse(written, classes[name](), descriptor_pool=classes.pool)


@pytest.mark.parametrize("case", MESSAGES)
def test_it_is_what_the_published_library_writes(types, classes, case):
    """It reads as the same message again, too."""
    name = MESSAGES[case][0]
    given = message(classes, case)
    written = types.decode(name, given.SerializePartialToString())
    assert json.loads(written) == json.loads(classes.json(given))
    read = classes[name].FromString(types.encode(name, written))
    if case == "value without a kind":
        # JSON has null for it, which is a value.
        return
    assert read.SerializeToString(deterministic=True) == given.SerializeToString(deterministic=True)


# The forms that a message may be written in: an option, what it may be, and what the library calls the second.
FORMS = {
    "names": (("json", "proto"), "preserving_proto_field_name"),
    "defaults": (("omit", "write"), "always_print_fields_with_no_presence"),
    "enums": (("names", "numbers"), "use_integers_for_enums"),
}
# Null is null in all of them; the published library makes it the number 0 among numbers.
WITHOUT_NULL = ("nulls", "oneof null")


@pytest.mark.parametrize("form", list(itertools.product((0, 1), repeat=3)), ids=str)
def test_the_forms_of_json(binary, classes, tmp_path, form):
    options = ", ".join(f"{option}: {values[chosen]}" for (option, (values, _)), chosen in zip(FORMS.items(), form))
    types = Types(tmp_path / "types", all_schemas(), options=f", json: {{ {options} }}")
    given = {flag: bool(chosen) for (_, flag), chosen in zip(FORMS.values(), form)}
    for case, (name, _) in MESSAGES.items():
        # A field of the type NullValue without presence has a default, too.
        if case in WITHOUT_NULL or name == ALL and given["use_integers_for_enums"] and form[1]:
            continue
        wire = message(classes, case)
        written = types.decode(name, wire.SerializePartialToString())
        assert json.loads(written) == json.loads(classes.json(wire, **given)), case


@pytest.mark.parametrize("enums", ["names", "numbers"])
def test_null_is_null_in_every_form(binary, classes, tmp_path, enums):
    types = Types(tmp_path / "types", all_schemas(), options=f", json: {{ enums: {enums}, defaults: write }}")
    written = json.loads(types.decode(ALL, message(classes, "nulls").SerializeToString()))
    assert (written["nulls"], written["nullValue"], written["maybeNull"]) == ([None, None], None, None)


def pairs(written):
    """The names of the members of an object, in their order."""
    return [name for name, _ in json.loads(written, object_pairs_hook=list)]


def test_members_are_in_the_order_of_their_numbers(types, classes):
    wire = number(6, 6) + number(536870911, 5) + number(2, 2) + number(5, 5) + number(1, 1)
    assert types.decode(ORDER, wire) == '{"first":1,"second":2,"five":5,"six":6,"last":5}'
    for case in ("numbers", "maps", "wrappers"):
        given = message(classes, case)
        numbers = [field.number for field, _ in given.ListFields()]
        names = [classes[ALL].DESCRIPTOR.fields_by_number[number].json_name for number in sorted(numbers)]
        assert pairs(types.decode(ALL, given.SerializeToString())) == names


def test_extensions_are_behind_the_fields_in_the_order_of_their_numbers(types):
    wire = text(110, b"") + number(101, 1) + text(100, "x") + number(103, 2) + number(1, 1)
    names = ["id", "[old.v1.extra]", "[old.v1.more]", "[old.v1.closed_extra]", "[old.v1.Scope.scope]"]
    assert pairs(types.decode(OLD, wire)) == names


@pytest.mark.parametrize(
    "field, make, keys, expected",
    [
        (27, lambda key: text(1, key), ["b", "", "B", "aa", "a", "é", "\U0001f600", "\uffff"], None),
        (28, lambda key: number(1, key), [10, 9, -1, 0, 2**63 - 1, -(2**63), -10], None),
        (66, lambda key: number(1, key), [2**64 - 1, 2**63, 0, 10, 9], None),
        (67, lambda key: number(1, key), [2**31 - 1, -(2**31), 5, -5], None),
        (68, lambda key: number(1, key), [2**32 - 1, 0, 2**31], None),
        (29, lambda key: number(1, key), [1, 0], ["false", "true"]),
    ],
)
def test_the_keys_of_maps_are_sorted(types, field, make, keys, expected):
    """Text is sorted by its bytes, numbers by their values, whatever the order on the wire."""
    expected = expected or [str(key) for key in sorted(keys, key=lambda key: key.encode() if isinstance(key, str) else key)]
    lines = set()
    for order in (keys, keys[::-1]):
        lines.add(types.decode(ALL, b"".join(text(field, make(key)) for key in order)))
    assert len(lines) == 1
    [(_, entries)] = json.loads(lines.pop(), object_pairs_hook=list)
    assert [key for key, _ in entries] == expected


def test_the_output_is_exactly_this(types):
    """No space, the shortest numbers, 64-bit integers and bytes in quotes."""
    wire = (
        number(1, 1) + number(3, 5) + eight(13, b"\0\0\0\0\0\0\xf0\x3f") + text(14, "é\n\"\\") + text(15, b"\xfb\xff")
        + number(16, 5) + text(17, b"") + text(23, b"\1\2") + text(31, number(2, 10**6))
    )  # fmt: skip
    assert types.decode(ALL, wire) == (
        '{"boolValue":true,"int64Value":"5","doubleValue":1,"stringValue":"é\\n\\"\\\\","bytesValue":"+/8=",'
        '"colour":"BLUE","inner":{},"ints":[1,2],"time":"1970-01-01T00:00:00.001Z"}'
    )


# How a case is called: the type, its bytes, and the JSON.
WIRE = {
    "no bytes": (ALL, b"", {}),
    "fields in another order": (ALL, text(14, "a") + number(2, 1) + number(1, 1), {"boolValue": True, "int32Value": 1, "stringValue": "a"}),
    "a scalar twice": (ALL, number(2, 1) + number(2, 2), {"int32Value": 2}),
    "a scalar twice, the last is zero": (ALL, number(2, 1) + number(2, 0), {}),
    "a text twice": (ALL, text(14, "first") + text(14, "last"), {"stringValue": "last"}),
    "a message twice": (
        ALL,
        text(17, number(2, 1) + number(23, 1)) + text(17, number(3, 2) + number(23, 2)),
        {"inner": {"int32Value": 1, "int64Value": "2", "ints": [1, 2]}},
    ),
    "a message twice, with other fields between": (
        ALL, text(17, number(2, 1)) + number(2, 7) + text(17, number(2, 3)), {"int32Value": 7, "inner": {"int32Value": 3}},
    ),
    "two of a oneof": (ALL, text(19, "a") + number(20, 5), {"number": "5"}),
    "two of a oneof, the first one last": (ALL, number(20, 5) + text(19, "a"), {"text": "a"}),
    "a oneof message twice": (
        ALL, text(21, number(2, 1)) + text(21, number(3, 2)), {"below": {"int32Value": 1, "int64Value": "2"}}
    ),
    "a oneof message, a number, a message": (
        ALL, text(21, number(2, 1)) + number(20, 5) + text(21, number(3, 2)), {"below": {"int64Value": "2"}}
    ),
    "packed": (ALL, text(23, b"\1\2\xac\2"), {"ints": [1, 2, 300]}),
    "unpacked where packed is usual": (ALL, number(23, 1) + number(23, 2), {"ints": [1, 2]}),
    "packed where unpacked is usual": (ALL, text(79, b"\1\2"), {"unpacked": [1, 2]}),
    "packed and unpacked": (ALL, text(23, b"\1") + number(23, 2) + text(23, b"") + text(23, b"\3"), {"ints": [1, 2, 3]}),
    "packed doubles": (ALL, text(45, b"\0" * 8) + eight(45, b"\0" * 8), {"doubles": [0, 0]}),
    "packed booleans of any size": (ALL, text(73, b"\0\1\2\xff\1"), {"bools": [False, True, True, True]}),
    "packed closed enumeration": (OLD, number(1, 1) + text(8, b"\1\7\2"), {"id": 1, "closeds": ["ONE", "TWO"]}),
    "a closed enumeration": (OLD, number(1, 1) + number(5, 7), {"id": 1}),
    "a closed enumeration in a map": (
        OLD, number(1, 1) + text(9, text(1, "a") + number(2, 7)) + text(9, text(1, "b") + number(2, 3)),
        {"id": 1, "zeroedByName": {"b": "THREE"}},
    ),
    "an open enumeration": (ALL, number(16, 7) + text(26, b"\7\1"), {"colour": 7, "colours": [7, "RED"]}),
    "an enumeration beyond 32 bits": (ALL, number(16, 2**32 + 5), {"colour": "BLUE"}),
    "unknown fields": (
        ALL,
        number(9000, 1) + eight(9001, b"\0" * 8) + text(9002, b"\xff") + group(9003, group(9004, number(1, 1)))
        + four(9005, b"\0" * 4) + number(2, 5),
        {"int32Value": 5},
    ),
    "unknown fields below": (ALL, text(17, number(9000, 1) + number(2, 1)), {"inner": {"int32Value": 1}}),
    "an unknown extension": (OLD, number(1, 1) + number(199, 7), {"id": 1}),
    "the largest number of a field": (ALL, number(2**29 - 1, 1), {}),
    "a field with another wire type": (ALL, text(2, "x") + number(14, 1) + four(17, b"\0" * 4), {}),
    "a boolean that is two": (ALL, number(1, 2), {"boolValue": True}),
    "a boolean with many bits": (ALL, number(1, 2**63), {"boolValue": True}),
    "a 32-bit number with 64 bits": (ALL, number(2, 2**32 + 1) + number(4, 2**40 + 2), {"int32Value": 1, "uint32Value": 2}),
    "minus one in five bytes": (ALL, tag(2, 0) + b"\xff\xff\xff\xff\x0f", {"int32Value": -1}),
    "a number that is longer than it needs to be": (ALL, tag(2, 0) + varint(1, 10), {"int32Value": 1}),
    "a length that is longer than it needs to be": (ALL, tag(14, 2) + varint(1, 5) + b"a", {"stringValue": "a"}),
    "a tag that is longer than it needs to be": (ALL, varint(2 << 3, 5) + b"\1", {"int32Value": 1}),
    "a zigzag number": (ALL, number(6, 1) + number(7, 2**64 - 1), {"sint32Value": -1, "sint64Value": str(-(2**63))}),
    "a map entry without a value": (ALL, text(27, text(1, "a")), {"byName": {"a": 0}}),
    "a map entry without a key": (ALL, text(27, number(2, 1)), {"byName": {"": 1}}),
    "an empty map entry": (ALL, text(27, b"") + text(29, b""), {"byName": {"": 0}, "byBool": {"false": {}}}),
    "a map entry backwards": (ALL, text(27, number(2, 1) + text(1, "a")), {"byName": {"a": 1}}),
    "a map entry with a key twice": (ALL, text(27, text(1, "a") + text(1, "b") + number(2, 1)), {"byName": {"b": 1}}),
    # upb keeps such an entry as an unknown field.
    "a map entry with unknown fields": (ALL, text(27, text(1, "a") + number(2, 1) + number(3, 9)), {}),
    "a key twice": (ALL, text(27, text(1, "a") + number(2, 1)) + text(27, text(1, "a") + number(2, 2)), {"byName": {"a": 2}}),
    "a key with a message twice": (
        ALL, text(29, number(1, 1) + text(2, number(2, 1))) + text(29, number(1, 1) + text(2, number(3, 2))),
        {"byBool": {"true": {"int64Value": "2"}}},
    ),
    "a value of two kinds": (ALL, text(35, number(4, 1) + text(3, "a")), {"value": "a"}),
    "an Any in two halves": (ALL, text(30, text(1, f"x/{NAMES}")) + text(30, text(2, number(1, 5))),
                             {"any": {"@type": f"x/{NAMES}", "fieldname1": 5}}),
    "a time in two halves": (ALL, text(31, number(1, 1)) + text(31, number(2, 10**8)), {"time": "1970-01-01T00:00:01.100Z"}),
    "a group twice": (OLD, number(1, 1) + group(3, number(4, 1)) + group(3, group(5)), {"id": 1, "part": {"size": 1, "deeper": {}}}),
    "a group with an unknown group": (OLD, number(1, 1) + group(3, group(9, number(3, 1)) + number(4, 2)), {"id": 1, "part": {"size": 2}}),
    "delimited and prefixed": (
        MODERN, number(3, 1) + group(6, number(1, 5)) + text(7, number(1, 6)) + group(8) + group(8, text(2, "a")),
        {"required": 1, "part": {"size": 5}, "prefixed": {"size": 6}, "parts": [{}, {"name": "a"}]},
    ),
    "packed and expanded by edition": (
        MODERN, number(3, 1) + number(4, 1) + text(5, b"\2\3"), {"required": 1, "packed": [1], "expanded": [2, 3]}
    ),
    "a default that is left out": (MODERN, number(3, 1), {"required": 1}),
    "implicit zeros": (MODERN, number(3, 1) + number(1, 0) + number(2, 0) + text(15, ""), {"required": 1, "explicit": 0}),
}  # fmt: skip


@pytest.mark.parametrize("case", WIRE)
def test_every_valid_form_of_the_wire_format_is_read(types, classes, case):
    name, wire, expected = WIRE[case]
    assert json.loads(types.decode(name, wire)) == expected
    assert json.loads(classes.json(classes[name].FromString(wire))) == expected


FORMAT = "not in the wire format of Protobuf"
UTF8 = "a string is not UTF-8"
REJECTED = {
    "only a tag": (ALL, tag(2, 0), FORMAT),
    "half a tag": (ALL, b"\x80", FORMAT),
    "half a number": (ALL, tag(2, 0) + b"\x80", FORMAT),
    "half a text": (ALL, tag(14, 2) + b"\5abc", FORMAT),
    "only a length": (ALL, tag(14, 2) + b"\5", FORMAT),
    "half of four bytes": (ALL, tag(12, 5) + b"\0\0", FORMAT),
    "half of eight bytes": (ALL, tag(13, 1) + b"\0" * 7, FORMAT),
    "half a message below": (ALL, text(17, tag(2, 0)), FORMAT),
    "a message that ends in another": (ALL, text(17, tag(14, 2) + b"\5") + b"abcde", FORMAT),
    "half of packed numbers": (ALL, text(23, b"\1\x80"), FORMAT),
    "half of packed doubles": (ALL, text(45, b"\0" * 9), FORMAT),
    "half of an unknown field": (ALL, tag(9000, 2) + b"\5abc", FORMAT),
    "a number of eleven bytes": (ALL, tag(2, 0) + b"\x80" * 10 + b"\1", FORMAT),
    "a length of eleven bytes": (ALL, tag(14, 2) + b"\x80" * 10 + b"\0", FORMAT),
    "a tag of eleven bytes": (ALL, b"\x90" + b"\x80" * 9 + b"\0" + b"\1", FORMAT),
    "field 0": (ALL, b"\0\1", FORMAT),
    "a group that does not end": (ALL, tag(9000, 3) + number(1, 1), FORMAT),
    "a group that ends as another": (ALL, tag(9000, 3) + tag(9001, 4), FORMAT),
    "a group that has not begun": (ALL, tag(9000, 4), FORMAT),
    "a known group that does not end": (OLD, number(1, 1) + tag(3, 3), FORMAT),
    "a known group that ends as another": (OLD, number(1, 1) + tag(3, 3) + tag(4, 4), FORMAT),
    "a group that ends behind its message": (ALL, text(17, tag(9000, 3)) + tag(9000, 4), FORMAT),
    "wire type 6": (ALL, tag(9000, 6) + b"\0", FORMAT),
    "wire type 7": (ALL, tag(2, 7) + b"\0", FORMAT),
    "a length of 2 GiB": (ALL, tag(14, 2) + varint(2**31), FORMAT),
    "a length of 4 GiB": (ALL, tag(14, 2) + varint(2**32), FORMAT),
    "a length of 2^64 - 1": (ALL, tag(17, 2) + varint(2**64 - 1), FORMAT),
    "text": (ALL, b"hello, world", FORMAT),
    "JSON": (ALL, b'{"int32Value":1}', FORMAT),
    "invalid UTF-8": (ALL, text(14, b"\xff"), UTF8),
    "overlong UTF-8": (ALL, text(14, b"\xc0\x80"), UTF8),
    "a surrogate in UTF-8": (ALL, text(14, b"\xed\xa0\x80"), UTF8),
    "invalid UTF-8 below": (ALL, text(17, text(14, b"\xff")), UTF8),
    "invalid UTF-8 in a list": (ALL, text(24, b"a") + text(24, b"\xff"), UTF8),
    "invalid UTF-8 in a key": (ALL, text(27, text(1, b"\xff")), UTF8),
    "invalid UTF-8 in a value": (ALL, text(28, text(2, b"\xff")), UTF8),
    "invalid UTF-8 in a oneof": (ALL, text(19, b"\xff"), UTF8),
    "invalid UTF-8 in a wrapper": (ALL, text(38, text(1, b"\xff")), UTF8),
    "invalid UTF-8 in a structure": (ALL, text(34, text(1, text(1, b"\xff"))), UTF8),
    "invalid UTF-8 in an Any": (ALL, text(30, text(1, f"x/{ALL}") + text(2, text(14, b"\xff"))), UTF8),
    "invalid UTF-8 in the type of an Any": (ALL, text(30, text(1, b"x/\xff")), UTF8),
    "invalid UTF-8 in a mask": (ALL, text(33, text(1, b"\xff")), UTF8),
    "invalid UTF-8 in proto2": (OLD, number(1, 1) + text(2, b"\xff"), UTF8),
    "invalid UTF-8 in an extension": (OLD, number(1, 1) + text(100, b"\xff"), UTF8),
    "invalid UTF-8 by edition": (MODERN, number(3, 1) + text(13, b"\xff"), UTF8),
    "invalid UTF-8 that the edition allows": (MODERN, number(3, 1) + text(14, b"\xff"), UTF8),
    "a time before the year 1": (ALL, text(31, number(1, -62135596801)), "google.protobuf.Timestamp"),
    "a time behind the year 9999": (ALL, text(31, number(1, 253402300800)), "google.protobuf.Timestamp"),
    "a time with many nanos": (ALL, text(31, number(2, 10**9)), "google.protobuf.Timestamp"),
    "a time with negative nanos": (ALL, text(31, number(2, -1)), "google.protobuf.Timestamp"),
    "the last of all times": (ALL, text(31, number(1, 2**63 - 1)), "at /time"),
    "the first of all times": (ALL, text(31, number(1, -(2**63))), "at /time"),
    "a time in a list": (ALL, text(43, b"") + text(43, number(2, -1)), "at /times/1"),
    "a long duration": (ALL, text(32, number(1, 315576000001)), "google.protobuf.Duration"),
    "a long negative duration": (ALL, text(32, number(1, -315576000001)), "google.protobuf.Duration"),
    "the longest duration": (ALL, text(32, number(1, -(2**63))), "google.protobuf.Duration"),
    "a duration with two signs": (ALL, text(32, number(1, 1) + number(2, -1)), "google.protobuf.Duration"),
    "a duration with two signs, negative": (ALL, text(32, number(1, -1) + number(2, 1)), "google.protobuf.Duration"),
    "a duration with many nanos": (ALL, text(32, number(2, 10**9)), "google.protobuf.Duration"),
    "a duration with the least nanos": (ALL, text(32, number(2, -(2**31))), "google.protobuf.Duration"),
    "a mask with a capital": (ALL, text(33, text(1, "fooBar")), "google.protobuf.FieldMask"),
    "a mask with a number behind an underscore": (ALL, text(33, text(1, "foo_3_bar")), "google.protobuf.FieldMask"),
    "a mask with two underscores": (ALL, text(33, text(1, "foo__bar")), "google.protobuf.FieldMask"),
    "a mask that ends in an underscore": (ALL, text(33, text(1, "foo_")), "google.protobuf.FieldMask"),
    "a mask with a comma": (ALL, text(33, text(1, "foo,bar")), "google.protobuf.FieldMask"),
    "a mask with an empty path": (ALL, text(33, text(1, "")), "google.protobuf.FieldMask"),
    "a mask with an empty path of two": (ALL, text(33, text(1, "a") + text(1, "")), "google.protobuf.FieldMask"),
    "not a number in a Value": (ALL, text(35, eight(2, b"\0\0\0\0\0\0\xf8\x7f")), "google.protobuf.Value"),
    "infinity in a Value": (ALL, text(35, eight(2, b"\0\0\0\0\0\0\xf0\x7f")), "google.protobuf.Value"),
    "infinity in a structure": (
        ALL, text(34, text(1, text(1, "a") + text(2, eight(2, b"\0\0\0\0\0\0\xf0\xff")))), "at /structure/a"
    ),
    "an Any of an unknown type": (ALL, text(30, text(1, "x/nowhere.v1.Nothing")), "nowhere.v1.Nothing"),
    "an Any of no type": (ALL, text(30, text(2, number(1, 1))), "google.protobuf.Any"),
    "an Any without a URL": (ALL, text(30, text(1, ALL)), "google.protobuf.Any"),
    "an Any with wrong bytes": (ALL, text(30, text(1, f"x/{ALL}") + text(2, b"\x80")), FORMAT),
    "an Any with a wrong time": (
        ALL, text(30, text(1, "x/google.protobuf.Timestamp") + text(2, number(2, -1))), "google.protobuf.Timestamp"
    ),
    "an Any without a required field": (ALL, text(30, text(1, f"x/{OLD}")), "the required field id is missing"),
    "a required field is missing": (OLD, text(2, "a"), "the required field id is missing"),
    "a required field is missing below": (OLD, number(1, 1) + text(11, b""), "list[0].id"),
    "a required field is missing in an extension": (OLD, number(1, 1) + text(102, b""), "id"),
    "a required field is missing by edition": (MODERN, b"", "the required field required is missing"),
}  # fmt: skip


@pytest.mark.parametrize("case", REJECTED)
def test_what_is_no_message_is_an_error(types, case):
    name, wire, words = REJECTED[case]
    assert words in types.error("decode", name, wire)


def test_each_part_of_a_message_is_one_or_an_error(types, classes):
    """A message that ends early is valid if the library thinks so, too."""
    wire = message(classes, "groups").SerializeToString() + message(classes, "extensions").SerializeToString()
    for end in range(len(wire)):
        try:
            expected = classes[OLD].FromString(wire[:end])
        except Exception:
            expected = None
        if expected is None or not expected.IsInitialized():
            assert types.error("decode", OLD, wire[:end])
        else:
            assert json.loads(types.decode(OLD, wire[:end])) == json.loads(classes.json(expected))


def entry(value):
    return text(86, text(1, "a") + text(2, value))


def any_with(content):
    return text(1, f"{TYPE}/{ANY}") + text(2, content)


# How deep messages are nested: the type, and the bytes of `count` messages.
NESTED = {
    "message": (ALL, lambda count: nested(count, lambda inside: text(17, inside))),
    "list": (ALL, lambda count: nested(count, lambda inside: text(25, inside))),
    "any": (ANY, lambda count: nested(count, any_with)),
    "group": (MODERN, lambda count: nested(count, lambda inside: number(3, 1) + group(18, inside), number(3, 1))),
    "messages in an Any": (
        ALL,
        lambda count: text(30, text(1, f"x/{ALL}") + text(2, nested(count - 2, lambda inside: text(17, inside)))),
    ),
    "group in an extension": (
        OLD, lambda count: nested(count - 1, lambda inside: number(1, 1) + text(102, inside), number(1, 1) + group(104))
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", NESTED)
def test_a_hundred_messages_may_be_nested(types, kind):
    name, wire = NESTED[kind]
    for count in (99, 100):
        written = types.decode(name, wire(count))
        assert types.decode(name, types.encode(name, written)) == written
    assert "nested more than 100 deep" in types.error("decode", name, wire(101))


# What has maps in it, `count` in each other: whether the entries count as messages is the same in both forms.
MAPS = {
    "map": (ALL, lambda count: '{"allByName":{"a":' * count + "{}" + "}}" * count, lambda count: nested(count + 1, entry)),
    "structure": (
        STRUCT,
        lambda count: '{"a":' * count + "{}" + "}" * count,
        lambda count: nested(count + 1, lambda inside: text(1, text(1, "a") + text(2, text(5, inside)))),
    ),
    "structure in a Value": (
        "google.protobuf.Value",
        lambda count: '{"a":' * count + "{}" + "}" * count,
        lambda count: text(5, nested(count + 1, lambda inside: text(1, text(1, "a") + text(2, text(5, inside))))),
    ),
}


@pytest.mark.parametrize("kind", MAPS)
def test_maps_may_be_nested_as_deep_as_in_json(types, kind):
    """What JSON may have can be read again, and no more."""
    name, json_of, wire_of = MAPS[kind]
    in_json = deepest(lambda count: accepts(types, "encode", name, json_of(count).encode()))
    on_wire = deepest(lambda count: accepts(types, "decode", name, wire_of(count)))
    assert in_json == on_wire


def deepest(is_accepted):
    """The largest number up to 200 that is accepted, of which all smaller ones are."""
    low, high = 1, 200
    assert is_accepted(low) and not is_accepted(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_accepted(middle) else (low, middle)
    return low


def accepts(types, action, name, given):
    return types.run("types", action, name, stdin=given).returncode == 0


@pytest.mark.parametrize(
    "content, expected",
    [
        (four(12, b"\1\0\0\0"), '{"floatValue":1e-45}'),
        (four(12, b"\xff\xff\x7f\x7f"), '{"floatValue":3.4028235e+38}'),
        (four(12, b"\xcd\xcc\xcc\x3d"), '{"floatValue":0.1}'),
        (four(12, b"\1\0\xc0\xff"), '{"floatValue":"NaN"}'),
        (eight(13, b"\1" + b"\0" * 7), '{"doubleValue":5e-324}'),
        (eight(13, b"\xff" * 6 + b"\xef\x7f"), '{"doubleValue":1.7976931348623157e+308}'),
        (eight(13, b"\1" + b"\0" * 5 + b"\xf0\xff"), '{"doubleValue":"NaN"}'),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_numbers_at_the_ends_are_written_short(types, content, expected):
    assert types.decode(ALL, content) == expected


@pytest.mark.parametrize(
    "name, wire",
    [
        (ALL, four(12, b"\0\0\0\x80")),
        (ALL, eight(13, b"\0" * 7 + b"\x80")),
        (ALL, text(45, b"\0" * 7 + b"\x80")),
        (ALL, text(40, eight(1, b"\0" * 7 + b"\x80"))),
        ("google.protobuf.Value", eight(2, b"\0" * 7 + b"\x80")),
    ],
    ids=["float", "double", "list", "wrapper", "Value"],
)
def test_minus_zero_is_minus_zero_for_others(types, classes, name, wire):
    """The published library reads -0 as an integer, which has no minus zero."""
    read = classes.parse(name, types.decode(name, wire))
    assert read.SerializeToString(deterministic=True) == wire


@pytest.mark.parametrize("path", [b"a\nb", b"a\x1b[31mb", b"a\x00b", b"X" * 100_000], ids=["line", "escape", "nul", "long"])
def test_an_error_is_one_short_line(types, path):
    """What is shown of a message has no control characters and an end."""
    for words in (types.error("decode", ALL, text(33, text(1, path))), types.error("decode", ANY, text(1, b"x/" + path))):
        assert words.isprintable() and len(words) < 10_000
