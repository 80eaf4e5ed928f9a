"""`martlet types` lists the services of the descriptor sets, and `martlet check` says what is wrong with a set."""

import random

import pytest
from google.protobuf import descriptor_pb2
from support.schemas import SOURCE, WELL_KNOWN, Types, all_schemas, compiled

Field = descriptor_pb2.FieldDescriptorProto
ALL = "kinds.v1.All"
LISTED = """\
kinds.v1.Kinds
  Say      kinds.v1.Request → kinds.v1.Response
  Watch    kinds.v1.Request → stream kinds.v1.Response
  Collect  stream kinds.v1.Request → kinds.v1.Response
  Talk     stream kinds.v1.Request → stream kinds.v1.Response
"""
CONFIGURATION = 78


@pytest.fixture
def types_of(binary, tmp_path):
    """`martlet types` that knows some sets, one file for each."""
    return lambda *sets, **options: Types(tmp_path / "types", *sets, **options)


def files(content):
    return descriptor_pb2.FileDescriptorSet.FromString(content).file


def set_of(*several):
    return descriptor_pb2.FileDescriptorSet(file=several).SerializeToString()


def file(name, *imports, package="x.v1", message=None, syntax="proto3"):
    """A file with an empty message or with one made before."""
    message = message or descriptor_pb2.DescriptorProto(name="M")
    return descriptor_pb2.FileDescriptorProto(
        name=name, package=package, dependency=imports, message_type=[message], syntax=syntax
    )


def field(name, number, kind, label=Field.LABEL_OPTIONAL, type_name=None):
    return Field(name=name, number=number, type=kind, label=label, type_name=type_name)


def accepted(types):
    result = types.run("check")
    assert (result.returncode, result.stderr) == (0, b"")
    return types


def rejected(types):
    """The errors of `martlet check`: each is at a place of the configuration, and `martlet types` has them, too."""
    result = types.run("check")
    assert result.returncode == CONFIGURATION
    words = result.stderr.decode()
    assert all(line.startswith(f"{types.file}:3:") for line in words.splitlines())
    assert types.run("types").returncode == CONFIGURATION
    return words


# What is known


def test_the_services_are_listed(types_of):
    assert types_of(all_schemas()).run("types").stdout.decode() == LISTED


def test_services_are_sorted_by_their_names(types_of):
    service = descriptor_pb2.ServiceDescriptorProto
    method = descriptor_pb2.MethodDescriptorProto
    many = file("many.proto")
    for name in ("Zebra", "Ant", "Bee"):
        many.service.append(service(name=name, method=[method(name="Do", input_type=".x.v1.M", output_type=".x.v1.M")]))
    many.service.append(service(name="Empty"))
    line = "  Do  x.v1.M → x.v1.M\n"
    expected = f"x.v1.Ant\n{line}x.v1.Bee\n{line}x.v1.Empty\nx.v1.Zebra\n{line}"
    assert types_of(set_of(many)).run("types").stdout.decode() == expected


def test_a_set_without_services_lists_nothing(types_of):
    result = types_of(set_of(file("a.proto"))).run("types")
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_a_configuration_without_types(command, tmp_path):
    (tmp_path / "martlet.yaml").write_text("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\n")
    result = command("types", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == CONFIGURATION
    assert "there are no types" in result.stderr.text and "protoc" in result.stderr.text


@pytest.mark.parametrize(
    "arguments", [["frobnicate"], ["decode"], ["encode"], ["encode", ALL, "extra"], ["encode", "--frobnicate", ALL]], ids=" ".join
)
def test_wrong_arguments_exit_with_2(types, arguments):
    result = types.run("types", *arguments)
    assert result.returncode == 2 and result.stderr and not result.stdout


@pytest.mark.parametrize("name", ["kinds.v1.Colour", "kinds.v1.Kinds", "All", ".kinds.v1.All", "", "kinds.v1", "kinds.v1.All "])
@pytest.mark.parametrize("action", ["encode", "decode"])
def test_a_name_that_is_of_no_message(types, action, name):
    assert f'"{name}"' in types.error(action, name, "{}")


@pytest.mark.parametrize(
    "name, meant",
    [("kinds.v1.Al", "kinds.v1.All"), ("All", "kinds.v1.All"), ("kind.v1.Request", "kinds.v1.Request"), ("Old.Part", "old.v1.Old.Part")],
)
def test_a_name_that_is_almost_right(types, name, meant):
    assert types.error("decode", name, "").endswith(f"; did you mean {meant}?")


def test_what_the_configuration_names_and_no_file_has_is_listed(types_of):
    types = types_of(all_schemas())
    routes = """\
routes:
  - match: { service: other.v1.Shop }
  - match: { service: [kinds.v1.Kinds, other.v1.Shop], method: [Say, Shout] }
  - match: { path: /other.v1.Shop/ }
interceptors:
  - { when: { service: kinds.v1.Kinds, method: Watch }, log: {} }
  - { when: { service: third.v1.Shop }, log: {} }
"""
    types.file.write_text(types.file.read_text() + routes)
    file = types.file
    missing = f"""\
missing, though the configuration names them:
  other.v1.Shop         {file}:5:12
  kinds.v1.Kinds/Shout  {file}:6:12
  third.v1.Shop         {file}:10:13
"""
    result = types.run("types")
    assert (result.returncode, result.stdout.decode()) == (0, LISTED + missing)


def test_output_that_cannot_be_written_is_an_error(types):
    for arguments in (["types"], ["types", "encode", "kinds.v1.All"], ["check"], ["schema"]):
        result = types.run_into("/dev/full", *arguments)
        assert result.returncode == 1
        assert result.stderr == b"martlet: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("name", ["old.v1.Old.Part", "kinds.v1.All.ByNameEntry", "google.protobuf.Any", "old.v1.Scope"])
def test_messages_within_others_are_known(types, name):
    assert types.encode(name, "{}") == b""
    assert types.decode(name, b"") == '{"key":"","value":0}' or types.decode(name, b"") == "{}"


# unknown_fields


DROPPED = {
    "a member": ('{"x":1,"name":"a"}', '{"name":"a"}'),
    "any value": ('{"x":{"y":[1,{"z":null}],"y":true},"name":"a"}', '{"name":"a"}'),
    "a member twice": ('{"x":1,"x":2}', "{}"),
    "below": ('{"inner":{"x":1,"times":2}}', '{"inner":{"times":2}}'),
    "nothing": ('{"inner":{}}', '{"inner":{}}'),
}
DROPPED_OF_ALL = {
    "in a list": ('{"list":[{"x":1},{"y":2}]}', '{"list":[{},{}]}'),
    "in an Any": ('{"any":{"x":1,"@type":"a/kinds.v1.Names"}}', '{"any":{"@type":"a/kinds.v1.Names"}}'),
    "in an Any of a well-known type": (
        '{"any":{"@type":"a/google.protobuf.Duration","x":[],"value":"1s"}}',
        '{"any":{"@type":"a/google.protobuf.Duration","value":"1s"}}',
    ),
    "the name of an enumeration": ('{"colour":"PURPLE","boolValue":true}', '{"boolValue":true}'),
    "a name of an enumeration in a list": ('{"colours":["RED","PURPLE","BLUE"]}', '{"colours":["RED","BLUE"]}'),
    "a name of an enumeration in a map": ('{"coloursByName":{"a":"PURPLE","b":"RED"}}', '{"coloursByName":{"b":"RED"}}'),
    "nothing of a structure": ('{"structure":{"x":1}}', '{"structure":{"x":1}}'),
}


@pytest.mark.parametrize("case", [*DROPPED, *DROPPED_OF_ALL])
def test_unknown_members_can_be_left_out(types_of, classes, case):
    name = "kinds.v1.Request" if case in DROPPED else ALL
    text, expected = (DROPPED | DROPPED_OF_ALL)[case]
    types = types_of(all_schemas(), options=", unknown_fields: drop")
    assert types.decode(name, types.encode(name, text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"x":tru}',
        '{"x":[1,]}',
        '{"x":"\\uD800"}',
        '{"x":01}',
        '{"x":{"y":1}',
        '{"x"}',
        '{"x":"a\nb"}',
        '{"name":1}',
        '{"name":"a","name":"b"}',
        '{"x":1e}',
        '{"x":\'a\'}',
    ],
)
def test_what_is_left_out_is_json(types_of, text):
    assert types_of(all_schemas(), options=", unknown_fields: drop").error("encode", "kinds.v1.Request", text)


def test_unknown_members_are_errors_by_default(types_of):
    for options in ("", ", unknown_fields: reject"):
        words = types_of(all_schemas(), options=options).error("encode", "kinds.v1.Request", '{"inner":{"colour":1}}')
        assert words == 'kinds.v1.Request: no field "colour" at /inner'


# Sets that are wrong


@pytest.mark.parametrize("content", [b"hello, world\n", b"\xff" * 100, b"syntax = 'proto3';", b"\x0a\x05\x0a", b"\0" * 64], ids=ascii)
def test_a_file_that_is_no_descriptor_set(types_of, content):
    assert "set0.binpb: not a FileDescriptorSet" in rejected(types_of(content))


def test_an_empty_file(types_of):
    assert "set0.binpb" in rejected(types_of(b""))


def test_a_file_that_is_missing(types_of):
    types = types_of(all_schemas())
    (types.directory / "set0.binpb").unlink()
    assert "set0.binpb" in rejected(types) and "No such file" in rejected(types)


def test_a_directory(types_of):
    types = types_of(all_schemas())
    (types.directory / "set0.binpb").unlink()
    (types.directory / "set0.binpb").mkdir()
    assert "set0.binpb" in rejected(types)


def test_a_file_that_is_too_large(types_of):
    assert "set0.binpb" in rejected(types_of(b"\0" * (17 << 20)))


def test_a_set_made_without_its_imports(types_of):
    words = rejected(types_of(compiled(SOURCE, "kinds.proto", options=())))
    assert "kinds.proto imports google/protobuf/any.proto" in words and "--include_imports" in words


def test_every_set_with_an_error_is_reported(types_of):
    words = rejected(types_of(b"junk", compiled(SOURCE, "modern.proto", options=()), b""))
    assert all(name in words for name in ("set0.binpb", "set1.binpb", "set2.binpb"))


def test_a_set_that_another_file_completes(types_of):
    alone = compiled(SOURCE, "modern.proto", options=())
    imports = compiled(WELL_KNOWN, "google/protobuf/timestamp.proto")
    for sets in ((alone, imports), (imports, alone)):
        accepted(types_of(*sets)).encode("modern.v1.Modern", '{"required":1,"time":"2020-01-01T00:00:00Z"}')


def test_the_files_of_a_set_in_reverse_order(types_of):
    reverse = set_of(*reversed(files(all_schemas())))
    assert accepted(types_of(reverse)).run("types").stdout.decode() == LISTED


def test_two_sets_that_share_files(types_of):
    types = accepted(types_of(compiled(SOURCE, "kinds.proto"), compiled(SOURCE, "modern.proto"), all_schemas()))
    assert types.run("types").stdout.decode() == LISTED
    assert types.encode("modern.v1.Modern", '{"required":1,"time":"2020-01-01T00:00:00Z"}')


def test_two_files_with_one_name_say_the_same(types_of):
    first = file("a.proto", message=descriptor_pb2.DescriptorProto(name="First"))
    second = file("a.proto", message=descriptor_pb2.DescriptorProto(name="Second"))
    assert "a.proto is not the same as in" in rejected(types_of(set_of(first), set_of(second)))
    assert accepted(types_of(set_of(first), set_of(first))).encode("x.v1.First", "{}") == b""


def test_two_files_that_define_the_same_message(types_of):
    words = rejected(types_of(set_of(file("a.proto"), file("b.proto"))))
    assert "b.proto" in words and "x.v1.M" in words


CIRCLES = {
    "itself": [file("a.proto", "a.proto")],
    "two": [file("a.proto", "b.proto", package="a"), file("b.proto", "a.proto", package="b")],
    "three": [
        file("a.proto", "b.proto", package="a"), file("b.proto", "c.proto", package="b"), file("c.proto", "a.proto", package="c")
    ],
    "behind another": [
        file("z.proto", "a.proto", package="z"), file("a.proto", "b.proto", package="a"), file("b.proto", "a.proto", package="b")
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", CIRCLES)
def test_imports_in_a_circle(types_of, case):
    words = rejected(types_of(set_of(*CIRCLES[case])))
    assert "a.proto" in words and "imports" in words


def test_a_long_chain_of_imports(types_of):
    chain = [file(f"{n}.proto", f"{n + 1}.proto", package=f"p{n}") for n in range(20000)] + [file("20000.proto")]
    assert accepted(types_of(set_of(*chain))).encode("p0.M", "{}") == b""


def message(*fields, name="M", **options):
    return descriptor_pb2.DescriptorProto(name=name, field=fields, **options)


BROKEN = {
    "a type that is not there": message(field("a", 1, Field.TYPE_MESSAGE, type_name=".x.v1.Nothing")),
    "a message as an enumeration": message(field("a", 1, Field.TYPE_ENUM, type_name=".x.v1.M")),
    "a number twice": message(field("a", 1, Field.TYPE_INT32), field("b", 1, Field.TYPE_INT32)),
    "a name twice": message(field("a", 1, Field.TYPE_INT32), field("a", 2, Field.TYPE_INT32)),
    "the number 0": message(field("a", 0, Field.TYPE_INT32)),
    "a negative number": message(field("a", -1, Field.TYPE_INT32)),
    "a number that is too large": message(field("a", 2**29, Field.TYPE_INT32)),
    "no name": message(field("", 1, Field.TYPE_INT32)),
    "a name with a space": message(field("a b", 1, Field.TYPE_INT32)),
    "a message without a name": message(name=""),
    "a message with a dot": message(name="a.b"),
}
# Files that protoc would not write, and that may be accepted or not.
ODD = {
    "JSON names that are the same": message(
        Field(name="a", number=1, type=Field.TYPE_INT32, label=Field.LABEL_OPTIONAL, json_name="same"),
        Field(name="b", number=2, type=Field.TYPE_INT32, label=Field.LABEL_OPTIONAL, json_name="same"),
    ),
    "a JSON name that is another's name": message(
        Field(name="a", number=1, type=Field.TYPE_INT32, label=Field.LABEL_OPTIONAL, json_name="b"),
        Field(name="b", number=2, type=Field.TYPE_INT32, label=Field.LABEL_OPTIONAL, json_name="a"),
    ),
    "an empty JSON name": message(
        Field(name="a", number=1, type=Field.TYPE_INT32, label=Field.LABEL_OPTIONAL, json_name=""),
    ),
    "a JSON name with a NUL": message(
        Field(name="a", number=1, type=Field.TYPE_INT32, label=Field.LABEL_OPTIONAL, json_name="a\0b"),
    ),
    "a map that is not repeated": message(
        field("a", 1, Field.TYPE_MESSAGE, type_name=".x.v1.M.E"),
        nested_type=[message(field("key", 1, Field.TYPE_STRING), field("value", 2, Field.TYPE_STRING), name="E",
                             options=descriptor_pb2.MessageOptions(map_entry=True))],
    ),
    "a map with a message as its key": message(
        field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".x.v1.M.E"),
        nested_type=[message(field("key", 1, Field.TYPE_MESSAGE, type_name=".x.v1.M"), field("value", 2, Field.TYPE_STRING),
                             name="E", options=descriptor_pb2.MessageOptions(map_entry=True))],
    ),
    "a map with a double as its key": message(
        field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".x.v1.M.E"),
        nested_type=[message(field("key", 1, Field.TYPE_DOUBLE), field("value", 2, Field.TYPE_STRING), name="E",
                             options=descriptor_pb2.MessageOptions(map_entry=True))],
    ),
    "a map with one field": message(
        field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".x.v1.M.E"),
        nested_type=[message(field("key", 1, Field.TYPE_STRING), name="E",
                             options=descriptor_pb2.MessageOptions(map_entry=True))],
    ),
    "a map without fields": message(
        field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".x.v1.M.E"),
        nested_type=[message(name="E", options=descriptor_pb2.MessageOptions(map_entry=True))],
    ),
    "a map with its fields in the other order": message(
        field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".x.v1.M.E"),
        nested_type=[message(field("value", 2, Field.TYPE_STRING), field("key", 1, Field.TYPE_STRING), name="E",
                             options=descriptor_pb2.MessageOptions(map_entry=True))],
    ),
    "a map with a list as its value": message(
        field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".x.v1.M.E"),
        nested_type=[message(field("key", 1, Field.TYPE_STRING), field("value", 2, Field.TYPE_STRING, Field.LABEL_REPEATED),
                             name="E", options=descriptor_pb2.MessageOptions(map_entry=True))],
    ),
    "a map whose value is itself an entry": message(
        field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".x.v1.M.E"),
        nested_type=[message(field("key", 1, Field.TYPE_STRING), field("value", 2, Field.TYPE_MESSAGE, type_name=".x.v1.M.E"),
                             name="E", options=descriptor_pb2.MessageOptions(map_entry=True))],
    ),
    "a MessageSet": message(options=descriptor_pb2.MessageOptions(message_set_wire_format=True)),
    "a field without a type": message(Field(name="a", number=1, label=Field.LABEL_OPTIONAL)),
    "a field without a label": message(Field(name="a", number=1, type=Field.TYPE_INT32)),
    "a oneof that is not there": message(
        Field(name="a", number=1, type=Field.TYPE_INT32, label=Field.LABEL_OPTIONAL, oneof_index=3)
    ),
    "a oneof with a list": message(
        Field(name="a", number=1, type=Field.TYPE_INT32, label=Field.LABEL_REPEATED, oneof_index=0),
        oneof_decl=[descriptor_pb2.OneofDescriptorProto(name="o")],
    ),
    "an empty oneof": message(oneof_decl=[descriptor_pb2.OneofDescriptorProto(name="o")]),
    "a required field of proto3": message(field("a", 1, Field.TYPE_INT32, Field.LABEL_REQUIRED)),
    "a group of proto3": message(field("a", 1, Field.TYPE_GROUP, type_name=".x.v1.M")),
    "an enumeration without values": message(
        field("a", 1, Field.TYPE_ENUM, type_name=".x.v1.M.E"), enum_type=[descriptor_pb2.EnumDescriptorProto(name="E")]
    ),
    "a default of proto3": message(
        Field(name="a", number=1, type=Field.TYPE_INT32, label=Field.LABEL_OPTIONAL, default_value="x")
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_definition_that_is_wrong(types_of, case):
    assert "a.proto" in rejected(types_of(set_of(file("a.proto", message=BROKEN[case]))))


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
@pytest.mark.parametrize("case", ODD)
def test_a_definition_that_is_odd_ends_no_process(types_of, case, syntax):
    types = types_of(set_of(file("a.proto", message=ODD[case], syntax=syntax)))
    if types.run("check").returncode == CONFIGURATION:
        return
    use(types, "x.v1.M")


def use(types, name):
    """Converts some messages both ways: each has a result or an error."""
    for text in ("{}", '{"a":1}', '{"a":{"x":1}}', '{"a":[1]}', '{"a":{"1":"x"}}', '{"same":1}', '"1s"', "1", "[]", "null"):
        types.run("types", "encode", name, stdin=text.encode())
    for wire in (b"", b"\x08\1", b"\x0a\0", b"\x0a\2\x0a\0", b"\x0a\2\x08\1", b"\x0b\x0c", b"\x12\0", b"\x0b\x10\1\x1a\0\x0c"):
        types.run("types", "decode", name, stdin=wire)


def test_a_file_without_a_name(types_of):
    types = types_of(set_of(file("")))
    if types.run("check").returncode == 0:
        use(types, "x.v1.M")


@pytest.mark.parametrize("edition", [0, 1, 900, 998, 999, 1000, 1001, 9999, 2**31 - 1])
def test_an_edition_of_any_number(types_of, edition):
    odd = descriptor_pb2.FileDescriptorProto(name="a.proto", syntax="editions", message_type=[message()])
    content = set_of(odd).replace(b"editions", b"editions\x70" + varint32(edition))
    length = len(content) - 2
    types = types_of(b"\x0a" + bytes([length]) + content[2:])
    assert types.run("check").returncode in (0, CONFIGURATION)


def varint32(number):
    result = b""
    while number > 0x7F:
        result += bytes([number & 0x7F | 0x80])
        number >>= 7
    return result + bytes([number])


# Definitions of well-known types that are others


def well_known(name, *fields, nested=(), enums=()):
    return descriptor_pb2.FileDescriptorProto(
        name="own.proto", package="google.protobuf", syntax="proto3",
        message_type=[message(*fields, name=name, nested_type=nested)], enum_type=enums,
    )  # fmt: skip


TEXT = Field.TYPE_STRING
OWN = {
    "Timestamp with text": well_known("Timestamp", field("seconds", 1, TEXT)),
    "Timestamp without fields": well_known("Timestamp"),
    "Timestamp with one field": well_known("Timestamp", field("seconds", 1, Field.TYPE_INT64)),
    "Timestamp with a list": well_known(
        "Timestamp", field("seconds", 1, Field.TYPE_INT64, Field.LABEL_REPEATED), field("nanos", 2, Field.TYPE_INT32)
    ),
    "Timestamp with other numbers": well_known(
        "Timestamp", field("seconds", 3, Field.TYPE_INT64), field("nanos", 4, Field.TYPE_INT32)
    ),
    "Timestamp with its fields the other way round": well_known(
        "Timestamp", field("nanos", 2, Field.TYPE_INT32), field("seconds", 1, Field.TYPE_INT64)
    ),
    "Duration with a message": well_known("Duration", field("a", 1, Field.TYPE_MESSAGE, type_name=".google.protobuf.Duration")),
    "FieldMask with one path": well_known("FieldMask", field("paths", 1, TEXT)),
    "Any with numbers": well_known("Any", field("type_url", 1, Field.TYPE_INT32), field("value", 2, Field.TYPE_INT32)),
    "Any with lists": well_known("Any", field("a", 1, TEXT, Field.LABEL_REPEATED), field("b", 2, Field.TYPE_BYTES)),
    "Struct with a list": well_known(
        "Struct", field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".google.protobuf.Struct")
    ),
    "Struct with a map of text": well_known(
        "Struct", field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".google.protobuf.Struct.AEntry"),
        nested=[message(field("key", 1, TEXT), field("value", 2, TEXT), name="AEntry",
                        options=descriptor_pb2.MessageOptions(map_entry=True))],
    ),
    "Struct with a map of numbers": well_known(
        "Struct", field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".google.protobuf.Struct.AEntry"),
        nested=[message(field("key", 1, Field.TYPE_INT64), field("value", 2, Field.TYPE_MESSAGE,
                        type_name=".google.protobuf.Struct"), name="AEntry",
                        options=descriptor_pb2.MessageOptions(map_entry=True))],
    ),
    "ListValue of itself": well_known(
        "ListValue", field("a", 1, Field.TYPE_MESSAGE, Field.LABEL_REPEATED, ".google.protobuf.ListValue")
    ),
    "ListValue of text": well_known("ListValue", field("a", 1, TEXT, Field.LABEL_REPEATED)),
    "Value with text": well_known("Value", field("a", 1, TEXT)),
    "Value of itself": well_known(
        "Value", *(field(name, number, kind, type_name=type_name) for name, number, kind, type_name in (
            ("a", 1, Field.TYPE_ENUM, ".google.protobuf.E"), ("b", 2, Field.TYPE_DOUBLE, None), ("c", 3, TEXT, None),
            ("d", 4, Field.TYPE_BOOL, None), ("e", 5, Field.TYPE_MESSAGE, ".google.protobuf.Value"),
            ("f", 6, Field.TYPE_MESSAGE, ".google.protobuf.Value"))),
        enums=[descriptor_pb2.EnumDescriptorProto(name="E", value=[descriptor_pb2.EnumValueDescriptorProto(name="Z", number=0)])],
    ),
    "Int32Value of itself": well_known("Int32Value", field("a", 1, Field.TYPE_MESSAGE, type_name=".google.protobuf.Int32Value")),
    "Int32Value with text": well_known("Int32Value", field("value", 1, TEXT)),
    "Int32Value with a list": well_known("Int32Value", field("value", 1, Field.TYPE_INT32, Field.LABEL_REPEATED)),
    "Int32Value without fields": well_known("Int32Value"),
    "StringValue with bytes": well_known("StringValue", field("value", 1, Field.TYPE_BYTES)),
    "BoolValue with two fields": well_known("BoolValue", field("value", 1, Field.TYPE_BOOL), field("a", 2, TEXT)),
}  # fmt: skip


@pytest.mark.parametrize("case", OWN)
def test_a_well_known_type_that_is_another_ends_no_process(types_of, case):
    types = accepted(types_of(set_of(OWN[case])))
    use(types, f"google.protobuf.{OWN[case].message_type[0].name}")


def test_a_well_known_type_with_other_fields_is_a_message_like_any_other(types_of):
    types = accepted(types_of(set_of(OWN["Timestamp with text"])))
    name = "google.protobuf.Timestamp"
    assert types.decode(name, types.encode(name, '{"seconds":"now"}')) == '{"seconds":"now"}'


def test_an_own_null_value_that_is_an_enumeration_with_other_names(types_of):
    own = descriptor_pb2.FileDescriptorProto(
        name="own.proto", package="google.protobuf", syntax="proto3",
        message_type=[message(field("a", 1, Field.TYPE_ENUM, type_name=".google.protobuf.NullValue"))],
        enum_type=[descriptor_pb2.EnumDescriptorProto(
            name="NullValue", value=[descriptor_pb2.EnumValueDescriptorProto(name=n, number=i) for i, n in enumerate("XYZ")])],
    )  # fmt: skip
    use(accepted(types_of(set_of(own))), "google.protobuf.M")


# Sets that are damaged


def damaged_is_no_crash(types_of, content):
    types = types_of(content)
    result = types.run("check")
    assert result.returncode in (0, CONFIGURATION)
    if result.returncode == 0:
        for name in (ALL, "old.v1.Old"):
            for action, given in (("encode", b'{"int32Value":1,"id":1}'), ("decode", b"\x10\1\x8a\1\0\x12\0")):
                types.run("types", action, name, stdin=given)


@pytest.mark.parametrize("part", range(4))
def test_a_set_that_is_cut_off(types_of, part):
    content = all_schemas()
    for end in range(97 * part, len(content), 97 * 4):
        damaged_is_no_crash(types_of, content[:end])


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(8))
def test_a_set_with_a_bit_that_is_wrong(types_of, seed):
    content = all_schemas()
    chance = random.Random(seed)
    for _ in range(25):
        changed = bytearray(content)
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        damaged_is_no_crash(types_of, bytes(changed))
