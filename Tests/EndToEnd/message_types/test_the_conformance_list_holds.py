"""Protobuf's own conformance list holds: its cases for JSON that is valid, by their names.

Cases that are the same in `test_json_is_read_as_protobuf_says.py` are there alone.
"""

import json

import pytest
from support.schemas import Types, all_schemas

ALL = "kinds.v1.All"
NAMES = "kinds.v1.Names"
OTHERS = "kinds.v1.Others"
LOOSE = "old.v1.Loose"
MODERN = "modern.v1.Modern"


def nulls(names):
    """An object whose members are null."""
    return json.dumps(dict.fromkeys(names.split()))


# How the list calls a case: its type, its JSON, and if the oracle is too strict or too lax for that the same in plain JSON.
ACCEPTED = {
    # Names and space
    "FieldNameInSnakeCase": (NAMES, '{"fieldname1":1,"fieldName2":2,"FieldName3":3,"fieldName4":4}'),
    "FieldNameWithDoubleUnderscores": (
        NAMES,
        '{"FieldName13":13,"FieldName14":14,"fieldName15":15,"fieldName16":16,"fieldName17":17,"FieldName18":18}',
    ),
    "OriginalProtoFieldName": (
        NAMES,
        '{"fieldname1":1,"field_name2":2,"_field_name3":3,"field__name4_":4,"field0name5":5,"field_0_name6":6,"fieldName7":7,'
        '"FieldName8":8,"field_Name9":9,"Field_Name10":10,"FIELD_NAME11":11,"FIELD_name12":12,"__field_name13":13,'
        '"__Field_name14":14,"field__name15":15,"field__Name16":16,"field_name17__":17,"Field_name18__":18}',
    ),
    "FieldNameEscaped": (NAMES, r'{"fieldn\u0061me1":1}'),
    "OneLineNoSpaces": (ALL, '{"int32Value":1,"int64Value":2}'),
    "OneLineWithSpaces": (ALL, '{ "int32Value" : 1 , "int64Value" : 2 }'),
    "MultilineNoSpaces": (ALL, '{\n"int32Value"\n:\n1\n,\n"int64Value"\n:\n2\n}'),
    "MultilineWithSpaces": (ALL, '{\n  "int32Value"  :  1\n  ,\n  "int64Value"  :  2\n}\n'),
    # Numbers
    "Int32FieldMaxValue": (ALL, '{"int32Value":2147483647}'),
    "Int32FieldMinValue": (ALL, '{"int32Value":-2147483648}'),
    "Uint32FieldMaxValue": (ALL, '{"uint32Value":4294967295}'),
    "Int64FieldMaxValue": (ALL, '{"int64Value":"9223372036854775807"}'),
    "Int64FieldMinValue": (ALL, '{"int64Value":"-9223372036854775808"}'),
    "Uint64FieldMaxValue": (ALL, '{"uint64Value":"18446744073709551615"}'),
    "Int64FieldMaxValueNotQuoted": (ALL, '{"int64Value":9223372036854774784}'),
    "Int64FieldMinValueNotQuoted": (ALL, '{"int64Value":-9223372036854775808}'),
    "Uint64FieldMaxValueNotQuoted": (ALL, '{"uint64Value":18446744073709549568}'),
    "Int32FieldStringValue": (ALL, '{"int32Value":"2147483647"}'),
    "Int32FieldStringValueEscaped": (ALL, r'{"int32Value":"2\u003147483647"}'),
    "Int32FieldStringValueZero": (ALL, '{"int32Value":"0"}'),
    "Int32FieldQuotedExponentialValue": (ALL, '{"int32Value":"1e5"}'),
    "FloatFieldMaxNegativeValue": (ALL, '{"floatValue":-1.175494e-38}'),
    "FloatFieldMaxPositiveValue": (ALL, '{"floatValue":3.402823e+38}'),
    "FloatFieldMinNegativeValue": (ALL, '{"floatValue":3.402823e+38}'),
    "FloatFieldQuotedValue": (ALL, '{"floatValue":"1"}'),
    "FloatFieldQuotedExponentialValue": (ALL, '{"floatValue":"1.175494e-38"}'),
    "DoubleFieldMaxPositiveValue": (ALL, '{"doubleValue":1.79769e+308}'),
    "DoubleFieldMinNegativeValue": (ALL, '{"doubleValue":-1.79769e+308}'),
    # Enumerations, strings and messages
    "EnumField": (ALL, '{"colour":"NONE"}'),
    "EnumFieldWithAliasLowerCase": (ALL, '{"alias":"uno"}'),
    "EnumFieldWithAliasDifferentCase": (ALL, '{"alias":"uNo"}'),
    "StringField": (ALL, '{"stringValue":"Hello world!"}'),
    "StringFieldUnicode": (ALL, '{"stringValue":"谷歌"}'),
    "StringFieldUnicodeEscapeWithLowercaseHexLetters": (ALL, r'{"stringValue":"\u8c37\u6b4c"}'),
    "StringFieldEmbeddedNull": (ALL, r'{"stringValue":"Hello\u0000world!"}'),
    "MessageField": (ALL, '{"inner":{"int32Value":1234}}'),
    # Oneofs
    "OneofFieldNullFirst": (OTHERS, '{"oneUint32":null,"oneString":"test"}'),
    "OneofFieldNullSecond": (OTHERS, '{"oneString":"test","oneUint32":null}'),
    "OneofZeroUint32": (OTHERS, '{"oneUint32":0}'),
    "OneofZeroMessage": (OTHERS, '{"oneMessage":{}}'),
    "OneofZeroString": (OTHERS, '{"oneString":""}'),
    "OneofZeroBytes": (OTHERS, '{"oneBytes":""}'),
    "OneofZeroBool": (OTHERS, '{"oneBool":false}'),
    "OneofZeroUint64": (OTHERS, '{"oneUint64":0}'),
    "OneofZeroFloat": (OTHERS, '{"oneFloat":0.0}'),
    "OneofZeroDouble": (OTHERS, '{"oneDouble":0.0}'),
    "OneofZeroEnum": (OTHERS, '{"oneEnum":"NONE"}'),
    # Maps
    "Int32MapField": (OTHERS, '{"int32ByInt32":{"1":2,"3":4}}'),
    "Uint32MapField": (OTHERS, '{"uint32ByUint32":{"1":2,"3":4}}'),
    "Int64MapField": (OTHERS, '{"int64ByInt64":{"1":2,"3":4}}'),
    "Uint64MapField": (OTHERS, '{"uint64ByUint64":{"1":2,"3":4}}'),
    "BoolMapField": (OTHERS, '{"boolByBool":{"true":true,"false":false}}'),
    "MessageMapField": (ALL, '{"allByName":{"hello":{"int32Value":1234},"world":{"int32Value":5678}}}'),
    "Int32MapEscapedKey": (OTHERS, r'{"int32ByInt32":{"\u0031":2}}'),
    "Int64MapEscapedKey": (OTHERS, r'{"int64ByInt64":{"\u0031":2}}'),
    "BoolMapEscapedKey": (OTHERS, r'{"boolByBool":{"tr\u0075e":true}}'),
    # Lists
    "PrimitiveRepeatedField": (ALL, '{"ints":[1,2,3,4]}'),
    "EnumRepeatedField": (ALL, '{"colours":["NONE","RED","BLUE"]}'),
    "StringRepeatedField": (ALL, '{"texts":["Hello","world"]}'),
    "BytesRepeatedField": (ALL, '{"manyBytes":["AAEC","AQI="]}'),
    "MessageRepeatedField": (ALL, '{"list":[{"int32Value":1234},{"int32Value":5678}]}'),
    "AllFieldAcceptNull": (
        OTHERS,
        nulls("doubles floats int64s uint64s int32s fixed64s fixed32s bools strings messages manyBytes uint32s enums sfixed32s sfixed64s "
              "sint32s sint64s int32ByInt32 boolByBool messageByString oneDouble oneBytes oneMessage oneEnum"),
    ),
    # Wrappers
    "OptionalUint32Wrapper": (ALL, '{"wrappedUint32":0}'),
    "OptionalInt64Wrapper": (ALL, '{"wrappedInt64":0}'),
    "OptionalUint64Wrapper": (ALL, '{"wrappedUint64":0}'),
    "OptionalFloatWrapper": (ALL, '{"wrappedFloat":0}'),
    "OptionalWrapperTypesWithNonDefaultValue": (
        ALL,
        '{"wrappedBool":true,"wrappedInt32":1,"wrappedUint32":1,"wrappedInt64":"1","wrappedUint64":"1","wrappedFloat":1,"wrappedDouble":1,'
        '"wrappedString":"1","wrappedBytes":"AQI="}',
    ),
    "RepeatedBoolWrapper": (OTHERS, '{"wrappedBools":[true,false]}'),
    "RepeatedInt32Wrapper": (OTHERS, '{"wrappedInt32s":[0,1]}'),
    "RepeatedUint32Wrapper": (OTHERS, '{"wrappedUint32s":[0,1]}'),
    "RepeatedInt64Wrapper": (OTHERS, '{"wrappedInt64s":[0,1]}'),
    "RepeatedUint64Wrapper": (OTHERS, '{"wrappedUint64s":[0,1]}'),
    "RepeatedFloatWrapper": (OTHERS, '{"wrappedFloats":[0,1]}'),
    "RepeatedDoubleWrapper": (OTHERS, '{"wrappedDoubles":[0,1]}'),
    "RepeatedStringWrapper": (OTHERS, '{"wrappedStrings":["","AQI="]}'),
    "RepeatedBytesWrapper": (OTHERS, '{"manyWrappedBytes":["","AQI="]}'),
    "WrapperTypesWithNullValue": (
        OTHERS,
        nulls("wrappedBools wrappedInt32s wrappedUint32s wrappedInt64s wrappedUint64s wrappedFloats wrappedDoubles wrappedStrings "
              "manyWrappedBytes"),
    ),
    # Times
    "DurationNull": (ALL, '{"duration":null}'),
    "DurationNegativeSeconds": (ALL, '{"duration":"-5s"}'),
    "TimestampEpochValue": (ALL, '{"time":"1970-01-01T00:00:00.000Z"}'),
    "TimestampNanoAfterEpochlValue": (ALL, '{"time":"1970-01-01T00:00:00.000000001Z"}'),
    "TimestampNanoBeforeEpochValue": (ALL, '{"time":"1969-12-31T23:59:59.999999999Z"}'),
    "TimestampLittleAfterEpochlValue": (ALL, '{"time":"1970-01-01T00:00:01.000000001Z"}'),
    "TimestampLittleBeforeEpochValue": (ALL, '{"time":"1969-12-31T23:59:58.999999999Z"}'),
    "TimestampTenAndHalfSecondsAfterEpochValue": (ALL, '{"time":"1970-01-01T00:00:10.500Z"}'),
    "TimestampTenAndHalfSecondsBeforeEpochValue": (ALL, '{"time":"1969-12-31T23:59:49.500Z"}'),
    "TimestampNull": (ALL, '{"time":null}'),
    "TimestampJsonInputLeapFeb29": (ALL, '{"time":"2000-02-29T00:00:00Z"}'),
    "TimestampWithOffsetShiftsDay": (ALL, '{"time":"1970-01-02T01:00:00+02:00"}'),
    "TimestampWithOffsetBoundaryInBoundsMin": (ALL, '{"time":"0001-01-01T00:00:00-00:01"}'),
    "TimestampWithOffsetBoundaryInBoundsMax": (ALL, '{"time":"9999-12-31T23:59:59+00:01"}'),
    "TimestampWithComplexOffset": (ALL, '{"time":"1970-01-01T00:00:00-11:30"}'),
    "EmptyFieldMask": (ALL, '{"mask":""}'),
    # Struct, Value, ListValue
    "Struct": (
        ALL,
        '{"structure":{"nullValue":null,"intValue":1234,"boolValue":true,"doubleValue":1234.5678,"stringValue":"Hello world!",'
        '"listValue":[1234,"5678"],"objectValue":{"value":0}}}',
    ),
    "StructDeepNesting25": (ALL, '{"structure":{' + '"n":{' * 25 + '"value":1' + "}" * 25 + "}}"),
    "ValueAcceptFloat": (ALL, '{"value":1.5}'),
    "ValueAcceptList": (ALL, '{"value":[0,"hello"]}'),
    "RepeatedValue": (ALL, '{"manyValues":[["a"]]}'),
    "RepeatedListValue": (ALL, '{"lists":[["a"]]}'),
    "ListValueDeepNesting25": (ALL, '{"value":' + "[" * 25 + "1" + "]" * 25 + "}"),
    "ValueDeepNesting25": (ALL, '{"value":{' + '"n":{' * 25 + '"value":1' + "}" * 25 + "}}"),
    # Any
    "AnyWithNoType": (ALL, '{"any":{}}'),
    "AnyNull": (ALL, '{"any":null}'),
    "AnyEmpty": (ALL, '{"any":{"@type":"type.googleapis.com/google.protobuf.Empty"}}'),
}  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_is_accepted(types, classes, case):
    """The message is what the published library reads, and its JSON is what that writes."""
    name, text, *meant = ACCEPTED[case]
    expected = classes.parse(name, meant[0] if meant else text)
    wire = types.encode(name, text)
    assert classes[name].FromString(wire).SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)
    assert json.loads(types.decode(name, wire)) == json.loads(classes.json(expected))


# How the list calls a case that looks at what is written: its type, its JSON, and how that is written again if not the same.
WRITTEN = {
    "StoresDefaultPrimitive": (MODERN, '{"required":1,"explicit":0}', '{"explicit":0,"required":1}'),
    "FieldNameExtension": (LOOSE, '{"[old.v1.Scope.note]":"1"}'),
    "FieldNameInLowerCamelCase": (
        NAMES,
        '{"fieldname1":1,"fieldName2":2,"FieldName3":3,"fieldName4":4}',
    ),
    "FieldNameWithNumbers": (NAMES, '{"field0name5":5,"field0Name6":6}'),
    "FieldNameWithMixedCases": (
        NAMES,
        '{"fieldName7":7,"FieldName8":8,"fieldName9":9,"FieldName10":10,"FIELDNAME11":11,"FIELDName12":12}',
    ),
    "FieldNameWithDoubleUnderscores": (
        NAMES,
        '{"FieldName13":13,"FieldName14":14,"fieldName15":15,"fieldName16":16,"fieldName17":17,"FieldName18":18}',
    ),
    "SkipsDefaultPrimitive": (NAMES, '{"FieldName13":0}', "{}"),
    "Int64FieldBeString": (ALL, '{"int64Value":1}', '{"int64Value":"1"}'),
    "Uint64FieldBeString": (ALL, '{"uint64Value":1}', '{"uint64Value":"1"}'),
    "EnumFieldUnknownValue": (ALL, '{"colour":123}'),
    "DurationHasZeroFractionalDigit": (ALL, '{"duration":"1.000000000s"}', '{"duration":"1s"}'),
    "DurationHas3FractionalDigits": (ALL, '{"duration":"1.010000000s"}', '{"duration":"1.010s"}'),
    "DurationHas6FractionalDigits": (ALL, '{"duration":"1.000010000s"}', '{"duration":"1.000010s"}'),
    "DurationHas9FractionalDigits": (ALL, '{"duration":"1.000000010s"}'),
    "TimestampZeroNormalized": (ALL, '{"time":"1969-12-31T16:00:00-08:00"}', '{"time":"1970-01-01T00:00:00Z"}'),
    "TimestampHasZeroFractionalDigit": (ALL, '{"time":"1970-01-01T00:00:00.000000000Z"}', '{"time":"1970-01-01T00:00:00Z"}'),
    "TimestampHas3FractionalDigits": (ALL, '{"time":"1970-01-01T00:00:00.010000000Z"}', '{"time":"1970-01-01T00:00:00.010Z"}'),
    "TimestampHas6FractionalDigits": (ALL, '{"time":"1970-01-01T00:00:00.000010000Z"}', '{"time":"1970-01-01T00:00:00.000010Z"}'),
    "TimestampHas9FractionalDigits": (ALL, '{"time":"1970-01-01T00:00:00.000000010Z"}'),
    "NullValueInOtherOneofOldFormat": (ALL, '{"nothing":"NULL_VALUE"}', '{"nothing":null}'),
    "NullValueInOtherOneofNewFormat": (ALL, '{"nothing":null}'),
    "NullValueInNormalMessage": (ALL, '{"nullValue":null}', "{}"),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_how_it_is_written(types, case):
    name, text, *expected = WRITTEN[case]
    assert types.decode(name, types.encode(name, text)) == (expected[0] if expected else text)


# How the list calls a case in which unknown members are left out: its JSON, and what remains of it.
LEFT_OUT = {
    "IgnoreUnknownJsonNumber": ('{"unknown":1}', {}),
    "IgnoreUnknownJsonString": ('{"unknown":"a"}', {}),
    "IgnoreUnknownJsonTrue": ('{"unknown":true}', {}),
    "IgnoreUnknownJsonFalse": ('{"unknown":false}', {}),
    "IgnoreUnknownJsonNull": ('{"unknown":null}', {}),
    "IgnoreUnknownJsonObject": ('{"unknown":{"a":1}}', {}),
    "IgnoreUnknownEnumStringValueInOptionalField": ('{"colour":"UNKNOWN"}', {}),
    "IgnoreUnknownEnumStringValueInRepeatedField": ('{"colours":["UNKNOWN"]}', {}),
    "IgnoreUnknownEnumStringValueInMapValue": ('{"coloursByName":{"key":"UNKNOWN"}}', {}),
    "IgnoreUnknownEnumStringValueInRepeatedPart": ('{"colours":["NONE","UNKNOWN","NONE"]}', {"colours": ["NONE", "NONE"]}),
    "IgnoreUnknownEnumStringValueInMapPart": (
        '{"coloursByName":{"key1":"NONE","key2":"UNKNOWN"}}',
        {"coloursByName": {"key1": "NONE"}},
    ),
}


@pytest.fixture(scope="module")
def lenient_types(binary, tmp_path_factory):
    """`martlet types` that leaves out what it does not know."""
    return Types(tmp_path_factory.mktemp("types"), all_schemas(), options=", unknown_fields: drop")


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_is_left_out(types, lenient_types, case):
    text, expected = LEFT_OUT[case]
    assert json.loads(types.decode(ALL, lenient_types.encode(ALL, text))) == expected
