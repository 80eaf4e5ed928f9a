"""JSON is read as Protobuf's conformance suite says, and more strictly where that leaves a choice."""

import json

import pytest

ALL = "kinds.v1.All"
NAMES = "kinds.v1.Names"
OLD = "old.v1.Old"
MODERN = "modern.v1.Modern"
REQUEST = "kinds.v1.Request"
TYPE = "type.googleapis.com"

LIMITS = {
    "int32Value": (-(2**31), 2**31 - 1),
    "sint32Value": (-(2**31), 2**31 - 1),
    "sfixed32Value": (-(2**31), 2**31 - 1),
    "uint32Value": (0, 2**32 - 1),
    "fixed32Value": (0, 2**32 - 1),
    "int64Value": (-(2**63), 2**63 - 1),
    "sint64Value": (-(2**63), 2**63 - 1),
    "sfixed64Value": (-(2**63), 2**63 - 1),
    "uint64Value": (0, 2**64 - 1),
    "fixed64Value": (0, 2**64 - 1),
}


def any_of(name, members=""):
    """The JSON of an Any field with a message of this name."""
    return f'{{"any":{{"@type":"{TYPE}/{name}"{"," if members else ""}{members}}}}}'


# How a case is called: its type, its JSON, and if the oracle is too strict or too lax for that the same in plain JSON.
ACCEPTED = {
    "HelloWorld": (ALL, '{"stringValue":"Hello, World!"}'),
    "EmptyMessage": (ALL, "{}"),
    "AnyWhiteSpace": (ALL, ' \t\r\n{ \n"int32Value"\t:\r1 , "stringValue" : "a b" } \n'),
    "FieldNameInSnakeCase": (ALL, '{"int32_value":1,"bool_value":true}'),
    "FieldNameInLowerCamelCase": (ALL, '{"int32Value":1,"boolValue":true}'),
    "FieldNamesInAnyOrder": (ALL, '{"stringValue":"a","boolValue":true,"int32Value":3}'),
    "FieldNameEscaped": (ALL, '{"\\u0069nt32Value":1}'),
    "FieldNameOfItsOwn": (ALL, '{"@other":1}'),
    "FieldNameOfItsOwnInSnakeCase": (ALL, '{"custom":1}'),
    "FieldNameWithQuotes": (NAMES, '{"a \\"b\\" \\\\ /~é":19}'),
    "FieldNameWithNumbers": (NAMES, '{"field0name5":5,"field0Name6":6}'),
    "FieldNameWithMixedCases": (
        NAMES,
        '{"fieldName7":7,"FieldName8":8,"fieldName9":9,"FieldName10":10,"FIELDNAME11":11,"FIELDName12":12}',
    ),
    "FieldNameWithDoubleUnderscores": (NAMES, '{"FieldName13":13,"fieldName15":15,"fieldName17":17,"FieldName18":18}'),
    "OriginalFieldNames": (
        NAMES,
        '{"fieldname1":1,"field_name2":2,"_field_name3":3,"field__name4_":4,"field_0_name6":6,"field_Name9":9}',
    ),
    "OriginalFieldNamesInMixedCase": (
        NAMES,
        '{"Field_Name10":10,"FIELD_NAME11":11,"FIELD_name12":12,"__field_name13":13,"__Field_name14":14,'
        '"field__name15":15,"field__Name16":16,"field_name17__":17,"Field_name18__":18}',
    ),
    # Integers
    **{
        f"{name}MaxAndMin{'Quoted' if quote else ''}{value}": (ALL, f'{{"{name}":{quote}{value}{quote}}}')
        for name, values in LIMITS.items()
        for value in values
        for quote in ("", '"')
        if abs(value) < 2**53 or not quote or "64" in name
    },
    "Int32FieldExponentialFormat": (ALL, '{"int32Value":1e5}'),
    "Int32FieldExponentialFormatCapital": (ALL, '{"int32Value":1E+2}'),
    "Int32FieldNegativeExponent": (ALL, '{"int32Value":1200e-2}', '{"int32Value":12}'),
    "Int32FieldFloatTrailingZero": (ALL, '{"int32Value":100000.000}'),
    "Int32FieldMaxFloatValue": (ALL, '{"int32Value":2147483647.0}'),
    "Int32FieldMinFloatValue": (ALL, '{"int32Value":-2147483648.0}'),
    "Int32FieldFloatInString": (ALL, '{"int32Value":"1.0"}', '{"int32Value":1}'),
    "Int32FieldExponentialInString": (ALL, '{"int32Value":"1e2"}', '{"int32Value":100}'),
    "Int32FieldMinusZero": (ALL, '{"int32Value":-0}'),
    "Int32FieldMinusZeroPointZero": (ALL, '{"int32Value":-0.0}'),
    "Int32FieldZeroExponent": (ALL, '{"int32Value":0e99999}', '{"int32Value":0}'),
    "Int32FieldLongFraction": (ALL, '{"int32Value":0.00000000000000000000000000000001e32}', '{"int32Value":1}'),
    "Uint32FieldMaxFloatValue": (ALL, '{"uint32Value":4294967295.0}'),
    "UintFieldMinusZero": (ALL, '{"uint64Value":-0}', '{"uint64Value":0}'),
    "Int64FieldBeyondDouble": (ALL, '{"int64Value":9007199254740993}'),
    "Int64FieldBeyondDoubleQuoted": (ALL, '{"int64Value":"9007199254740993"}'),
    "Int64FieldBeyondDoubleFraction": (ALL, '{"int64Value":9007199254740993.0}', '{"int64Value":9007199254740993}'),
    "Int64FieldBeyondDoubleExponent": (ALL, '{"int64Value":9.007199254740993e15}', '{"int64Value":9007199254740993}'),
    "Uint64FieldMaxExponent": (
        ALL,
        '{"uint64Value":1844674407370955161.5e1}',
        '{"uint64Value":18446744073709551615}',
    ),
    "Int64FieldManyZeros": (ALL, '{"int64Value":1000000000000000000}'),
    # Numbers with a point
    "FloatFieldMaxPositiveValue": (ALL, '{"floatValue":3.4028235e+38}', '{"floatValue":3.4028234663852886e+38}'),
    "FloatFieldMinPositiveValue": (ALL, '{"floatValue":1.175494e-38}'),
    "FloatFieldSubnormal": (ALL, '{"floatValue":1e-45}'),
    "FloatFieldUnderflow": (ALL, '{"floatValue":1e-200}'),
    "FloatFieldQuotedValue": (ALL, '{"floatValue":"1.5"}'),
    "FloatFieldInfinity": (ALL, '{"floatValue":"Infinity"}'),
    "FloatFieldNegativeInfinity": (ALL, '{"floatValue":"-Infinity"}'),
    "FloatFieldNan": (ALL, '{"floatValue":"NaN"}'),
    "FloatFieldMinusZero": (ALL, '{"floatValue":-0.0}'),
    "FloatFieldInteger": (ALL, '{"floatValue":16777217}'),
    "DoubleFieldMaxPositiveValue": (ALL, '{"doubleValue":1.7976931348623157e308}'),
    "DoubleFieldMinPositiveValue": (ALL, '{"doubleValue":2.22507e-308}'),
    "DoubleFieldSubnormal": (ALL, '{"doubleValue":5e-324}'),
    "DoubleFieldUnderflow": (ALL, '{"doubleValue":1e-400}'),
    "DoubleFieldMaxNegativeValue": (ALL, '{"doubleValue":-2.22507e-308}'),
    "DoubleFieldMinNegativeValue": (ALL, '{"doubleValue":-1.7976931348623157e308}'),
    "DoubleFieldQuotedValue": (ALL, '{"doubleValue":"1"}'),
    "DoubleFieldQuotedExponentialValue": (ALL, '{"doubleValue":"2.22507e-308"}'),
    "DoubleFieldInfinity": (ALL, '{"doubleValue":"Infinity"}'),
    "DoubleFieldNegativeInfinity": (ALL, '{"doubleValue":"-Infinity"}'),
    "DoubleFieldNan": (ALL, '{"doubleValue":"NaN"}'),
    "DoubleFieldMinusZero": (ALL, '{"doubleValue":-0.0}'),
    "DoubleFieldMinusZeroInteger": (ALL, '{"doubleValue":-0}', '{"doubleValue":-0.0}'),
    "DoubleFieldLongDigits": (ALL, '{"doubleValue":0.1000000000000000055511151231257827021181583404541015625}'),
    "DoubleFieldHalfway": (ALL, '{"doubleValue":9007199254740993}'),
    "DoubleFieldManyDigits": (ALL, f'{{"doubleValue":{"9" * 300}}}', f'{{"doubleValue":{"9" * 300}.0}}'),
    # Booleans and enumerations
    "BoolFieldTrue": (ALL, '{"boolValue":true}'),
    "BoolFieldFalse": (ALL, '{"boolValue":false}'),
    "EnumField": (ALL, '{"colour":"BLUE"}'),
    "EnumFieldNumericValueZero": (ALL, '{"colour":0}'),
    "EnumFieldNumericValueNonZero": (ALL, '{"colour":1}'),
    "EnumFieldNegative": (ALL, '{"colour":-1}'),
    "EnumFieldUnknownNumber": (ALL, '{"colour":123}'),
    "EnumFieldFraction": (ALL, '{"colour":5.0}', '{"colour":5}'),
    "EnumFieldWithAlias": (ALL, '{"alias":"FIRST"}'),
    "EnumFieldWithAliasUseAlias": (ALL, '{"alias":"UNO"}'),
    "EnumFieldWithAliasLowerCase": (ALL, '{"alias":"lower"}'),
    "EnumFieldClosed": (OLD, '{"id":1,"closed":"TWO"}'),
    "EnumFieldClosedNumber": (OLD, '{"id":1,"closed":2}'),
    # Strings and bytes
    "StringField": (ALL, '{"stringValue":"Hello"}'),
    "StringFieldEmpty": (ALL, '{"stringValue":""}'),
    "StringFieldEscape": (ALL, r'{"stringValue":"\"\\\/\b\f\n\r\t"}'),
    "StringFieldUnicode": (ALL, '{"stringValue":"谷歌 \U0001f600"}'),
    "StringFieldUnicodeEscape": (ALL, r'{"stringValue":"\u8C37\u6b4C"}'),
    "StringFieldSurrogatePair": (ALL, r'{"stringValue":"\uD83D\uDE01"}'),
    "StringFieldHighestCharacter": (ALL, r'{"stringValue":"\uDBFF\uDFFF\uFFFF"}'),
    "StringFieldUnicodeEscapeWithLowercaseHexLetters": (ALL, r'{"stringValue":"\u00e9\u007f"}'),
    "StringFieldNul": (ALL, r'{"stringValue":"a\u0000b"}'),
    "StringFieldDelete": (ALL, '{"stringValue":"\x7f\u2028\ufeff"}'),
    "BytesField": (ALL, '{"bytesValue":"AQI="}'),
    "BytesFieldBase64Url": (ALL, '{"bytesValue":"-_"}', '{"bytesValue":"+w=="}'),
    "BytesFieldBase64Standard": (ALL, '{"bytesValue":"+/8="}'),
    "BytesFieldBase64UrlPadded": (ALL, '{"bytesValue":"-_8="}'),
    "BytesFieldWithoutPadding": (ALL, '{"bytesValue":"AQI"}', '{"bytesValue":"AQI="}'),
    "BytesFieldEmpty": (ALL, '{"bytesValue":""}'),
    "BytesFieldEscaped": (ALL, r'{"bytesValue":"AQ\u0049\u003d"}'),
    # Messages, lists and oneofs
    "MessageField": (ALL, '{"inner":{"int32Value":1}}'),
    "MessageFieldEmpty": (ALL, '{"inner":{}}'),
    "EmptyField": (ALL, '{"empty":{}}'),
    "OneofFieldString": (ALL, '{"text":""}'),
    "OneofFieldMessage": (ALL, '{"below":{}}'),
    "OneofFieldBool": (ALL, '{"yes":false}'),
    "OneofFieldNumber": (ALL, '{"number":"0"}'),
    "OneofFieldNull": (ALL, '{"nothing":null}'),
    "OneofFieldNullByName": (ALL, '{"nothing":"NULL_VALUE"}'),
    "OneofFieldNullFirst": (ALL, '{"number":null,"text":"test"}'),
    "OneofFieldNullSecond": (ALL, '{"text":"test","number":null}'),
    "OneofFieldValueNull": (ALL, '{"anything":null}'),
    "OptionalFieldZero": (ALL, '{"maybe":0,"maybeText":"","maybeBool":false,"maybeBytes":"","maybeDouble":0}'),
    "OptionalEnumFieldZero": (ALL, '{"maybeColour":"NONE"}'),
    "RepeatedPrimitive": (ALL, '{"ints":[1,"2",3e0]}', '{"ints":[1,2,3]}'),
    "RepeatedEmpty": (ALL, '{"ints":[],"list":[],"texts":[ ]}'),
    "RepeatedString": (ALL, '{"texts":["","b","a"]}'),
    "RepeatedMessage": (ALL, '{"list":[{"int32Value":1},{},{"list":[{}]}]}'),
    "RepeatedEnum": (ALL, '{"colours":["RED",0,7,"BLUE"]}'),
    "RepeatedBool": (ALL, '{"bools":[true,false,true]}'),
    "RepeatedInteger64": (ALL, '{"int64s":[1,"-9223372036854775808"],"uint64s":["18446744073709551615",0]}'),
    "RepeatedFixedAndSigned": (ALL, '{"fixed64s":["9007199254740993",7],"sint32s":[-1,2147483647]}'),
    "RepeatedBytes": (ALL, '{"manyBytes":["","AA==","_w"]}', '{"manyBytes":["","AA==","/w=="]}'),
    "RepeatedDoubles": (ALL, '{"doubles":[1,"NaN","-Infinity",-0.0],"floats":["Infinity",0.5]}'),
    "RepeatedUnpacked": (ALL, '{"unpacked":[0,1,0]}'),
    # Maps
    "MapFieldEmpty": (ALL, '{"byName":{},"byNumber":{}}'),
    "StringMapField": (ALL, '{"byName":{"":1,"a":2,"a/~b":3}}'),
    "StringMapEscapedKey": (ALL, r'{"byName":{"\u0061\n":2}}'),
    "Int64MapField": (ALL, '{"byNumber":{"9223372036854775807":"max","-9223372036854775808":"min","0":"zero"}}'),
    "Int64MapKeyBeyondDouble": (ALL, '{"byNumber":{"9007199254740993":"a","9007199254740992":"b"}}'),
    "Int64MapEscapedKey": (ALL, r'{"byNumber":{"\u0031":"one"}}'),
    "BoolMapField": (ALL, '{"byBool":{"true":{"int32Value":1},"false":{}}}'),
    "BoolMapEscapedKey": (ALL, r'{"byBool":{"\u0074rue":{}}}'),
    "Uint64MapField": (ALL, '{"timeByNumber":{"18446744073709551615":"2020-01-01T00:00:00Z"}}'),
    "Int32MapField": (ALL, '{"doubleByNumber":{"-2147483648":"NaN","2147483647":1}}'),
    "Uint32MapField": (ALL, '{"bytesByNumber":{"4294967295":"AQ=="}}'),
    "Sint64MapField": (ALL, '{"boolByNumber":{"-9223372036854775808":true}}'),
    "Fixed64MapField": (ALL, '{"floatByNumber":{"18446744073709551615":1.5}}'),
    "Sfixed32MapFieldOfAny": (ALL, f'{{"anyByNumber":{{"-1":{{"@type":"{TYPE}/kinds.v1.Names","fieldname1":1}}}}}}'),
    "MapFieldOfEnum": (ALL, '{"coloursByName":{"a":"RED","b":5,"c":99}}'),
    "MapFieldOfMessages": (ALL, '{"allByName":{"a":{"allByName":{"b":{"int32Value":1}}}}}'),
    "MapFieldValueOfValueIsNull": (ALL, '{"valueByName":{"a":null,"b":[null],"c":1}}'),
    "MapFieldValueOfNullValueIsNull": (ALL, '{"nullByName":{"a":null}}', '{"nullByName":{"a":"NULL_VALUE"}}'),
    "MapFieldOfWrappers": (ALL, '{"wrappedByName":{"a":"","b":"x"}}'),
    # null
    "RepeatedFieldIsNull": (ALL, '{"ints":null,"list":null,"texts":null}'),
    "MapFieldIsNull": (ALL, '{"byName":null,"byBool":null}'),
    "WrapperTypesWithNullValue": (
        ALL,
        '{"wrappedInt64":null,"wrappedString":null,"wrappedBool":null,"wrappedDouble":null,"wrappedBytes":null,'
        '"wrappedUint32":null,"wrappedFloat":null,"wrappedInt32":null,"wrappedUint64":null}',
    ),
    "MessageFieldIsNull": (ALL, '{"inner":null,"empty":null,"any":null,"structure":null,"values":null}'),
    "EnumFieldIsNull": (ALL, '{"colour":null,"maybe":null,"maybeColour":null}'),
    "NullValueField": (ALL, '{"nullValue":null}', "{}"),
    "NullValueOptional": (ALL, '{"maybeNull":null}', '{"maybeNull":"NULL_VALUE"}'),
    "NullValueByNumber": (ALL, '{"maybeNull":0}'),
    "NullValueRepeated": (ALL, '{"nulls":[null,"NULL_VALUE",0]}', '{"nulls":["NULL_VALUE","NULL_VALUE",0]}'),
    # Wrappers
    "OptionalBoolWrapper": (ALL, '{"wrappedBool":false}'),
    "OptionalInt32Wrapper": (ALL, '{"wrappedInt32":0}'),
    "OptionalUint32Wrapper": (ALL, '{"wrappedUint32":4294967295}'),
    "OptionalInt64Wrapper": (ALL, '{"wrappedInt64":"-9223372036854775808"}'),
    "OptionalUint64Wrapper": (ALL, '{"wrappedUint64":18446744073709551615}'),
    "OptionalFloatWrapper": (ALL, '{"wrappedFloat":"NaN"}'),
    "OptionalDoubleWrapper": (ALL, '{"wrappedDouble":0}'),
    "OptionalStringWrapper": (ALL, '{"wrappedString":""}'),
    "OptionalBytesWrapper": (ALL, '{"wrappedBytes":""}'),
    "RepeatedWrapper": (ALL, '{"manyWrapped":[0,"1",-1]}'),
    "WrapperAlone": ("google.protobuf.Int64Value", '"12"'),
    # Times
    "TimestampMinValue": (ALL, '{"time":"0001-01-01T00:00:00Z"}'),
    "TimestampMaxValue": (ALL, '{"time":"9999-12-31T23:59:59.999999999Z"}'),
    "TimestampRepeatedValue": (ALL, '{"times":["0001-01-01T00:00:00Z","9999-12-31T23:59:59.999999999Z"]}'),
    "TimestampLeap": (ALL, '{"time":"1993-02-10T00:00:00.000Z"}'),
    "TimestampLeapDay": (ALL, '{"time":"2000-02-29T12:00:00Z"}'),
    "TimestampLeapDayOf2024": (ALL, '{"time":"2024-02-29T00:00:00Z"}'),
    "TimestampWithPositiveOffset": (ALL, '{"time":"1970-01-01T08:00:01+08:00"}'),
    "TimestampWithNegativeOffset": (ALL, '{"time":"1969-12-31T16:00:01-08:00"}'),
    "TimestampWithZeroOffset": (ALL, '{"time":"1970-01-01T00:00:01-00:00"}'),
    "TimestampOffsetOverMidnight": (ALL, '{"time":"2000-03-01T00:30:00+01:45"}'),
    "TimestampBeforeEpoch": (ALL, '{"time":"1969-12-31T23:59:59.5Z"}'),
    "TimestampOneDigit": (ALL, '{"time":"2020-01-01T00:00:00.1Z"}'),
    "TimestampNineDigits": (ALL, '{"time":"2020-01-01T00:00:00.000000001Z"}'),
    "TimestampAlone": ("google.protobuf.Timestamp", '"2020-01-01T00:00:00Z"'),
    "DurationMinValue": (ALL, '{"duration":"-315576000000.999999999s"}'),
    "DurationMaxValue": (ALL, '{"duration":"315576000000.999999999s"}'),
    "DurationNearMaxValue": (ALL, '{"duration":"315575999999.999999999s"}'),
    "DurationRepeatedValue": (ALL, '{"durations":["1.5s","-1.5s"]}'),
    "DurationNegativeNanos": (ALL, '{"duration":"-0.5s"}'),
    "DurationZero": (ALL, '{"duration":"0s"}'),
    "DurationNineDigits": (ALL, '{"duration":"1.000000001s"}'),
    # FieldMask
    "FieldMask": (ALL, '{"mask":"foo,barBaz"}'),
    "FieldMaskPaths": (ALL, '{"mask":"foo.barBaz,a.b.c"}'),
    "FieldMaskEmpty": (ALL, '{"mask":""}'),
    "FieldMaskRepeated": (ALL, '{"masks":["a","","bC"]}'),
    # Struct, Value, ListValue
    "Struct": (
        ALL,
        '{"structure":{"nullValue":null,"intValue":1234,"boolValue":true,"doubleValue":1234.5678,'
        '"stringValue":"Hello","listValue":[1234,"5678"],"emptyListValue":[],"objectValue":{"a":0}}}',
    ),
    "StructWithEmptyListValue": (ALL, '{"structure":{"listValue":[]}}'),
    "StructEmpty": (ALL, '{"structure":{}}'),
    "StructAlone": ("google.protobuf.Struct", '{"a":{"b":[]}}'),
    "RepeatedStruct": (ALL, '{"structures":[{"a":1},{}]}'),
    "ValueAcceptInteger": (ALL, '{"value":1}'),
    "ValueAcceptFloat": (ALL, '{"value":1.5e3}'),
    "ValueAcceptBool": (ALL, '{"value":false}'),
    "ValueAcceptNull": (ALL, '{"value":null}'),
    "ValueAcceptString": (ALL, '{"value":"hello"}'),
    "ValueAcceptStringNan": (ALL, '{"value":"NaN"}'),
    "ValueAcceptObject": (ALL, '{"value":{"value":1}}'),
    "ValueAcceptList": (ALL, '{"value":[0,"hello",null,[],{}]}'),
    "ValueMinusZero": (ALL, '{"value":-0.0}'),
    "ValueLargeInteger": (ALL, '{"value":12345678901234567890123}', '{"value":1.2345678901234568e22}'),
    "RepeatedValue": (ALL, '{"manyValues":["1",false,null,{},[1]]}'),
    "RepeatedListValue": (ALL, '{"lists":[["a"],[],[[1]]]}'),
    "ListValue": (ALL, '{"values":[null,1,"2",[3],{"four":4}]}'),
    "ListValueAlone": ("google.protobuf.ListValue", "[1,[]]"),
    "ValueAloneNull": ("google.protobuf.Value", "null"),
    "ValueAloneList": ("google.protobuf.Value", "[null]"),
    # Any
    "Any": (ALL, any_of(ALL, '"int32Value":12345')),
    "AnyEmptyMessage": (ALL, any_of(ALL)),
    "AnyNested": (ALL, any_of("google.protobuf.Any", f'"value":{{"@type":"{TYPE}/{ALL}","int32Value":12345}}')),
    "AnyUnorderedTypeTag": (ALL, f'{{"any":{{"int32Value":12345,"@type":"{TYPE}/{ALL}"}}}}'),
    "AnyUnorderedTypeTagInTheMiddle": (ALL, f'{{"any":{{"int32Value":1,"@type":"x.y/z/{ALL}","boolValue":true}}}}'),
    "AnyUnorderedTypeTagBehindTwelveMembers": (
        ALL, '{"any":{' + "".join(f'"fieldname{n}":{n},' if n == 1 else f'"field_name{n}":{n},' for n in (1, 2))
        + '"_field_name3":3,"field__name4_":4,"field0name5":5,"field_0_name6":6,"fieldName7":7,"FieldName8":8,'
        + f'"field_Name9":9,"Field_Name10":10,"FIELD_NAME11":11,"FIELD_name12":12,"@type":"x/{NAMES}"}}}}',
    ),
    "AnyUnorderedTypeTagBehindManyElements": (
        ALL, '{"anys":[' + f'{{"ints":[1,2],"texts":["a"],"@type":"x/{ALL}"}},' * 100 + "{}]}",
    ),
    "AnyUnorderedTypeTagTwiceDeep": (
        ALL, f'{{"any":{{"any":{{"any":{{"stringValue":"abc","@type":"x/{ALL}"}},"@type":"x/{ALL}"}},"@type":"x/{ALL}"}}}}',
    ),
    "AnyUnorderedWellKnown": (ALL, f'{{"any":{{"value":"1.5s","@type":"{TYPE}/google.protobuf.Duration"}}}}'),
    "AnyTypeTagEscaped": (ALL, f'{{"any":{{"\\u0040type":"{TYPE}/{ALL}","boolValue":true}}}}'),
    "AnyWithEmpty": (ALL, any_of("google.protobuf.Empty")),
    "AnyWithInt32ValueWrapper": (ALL, any_of("google.protobuf.Int32Value", '"value":12345')),
    "AnyWithDuration": (ALL, any_of("google.protobuf.Duration", '"value":"1.5s"')),
    "AnyWithTimestamp": (ALL, any_of("google.protobuf.Timestamp", '"value":"1970-01-01T00:00:00Z"')),
    "AnyWithFieldMask": (ALL, any_of("google.protobuf.FieldMask", '"value":"foo,barBaz"')),
    "AnyWithStruct": (ALL, any_of("google.protobuf.Struct", '"value":{"foo":1}')),
    "AnyWithValueForInteger": (ALL, any_of("google.protobuf.Value", '"value":1')),
    "AnyWithValueForNull": (ALL, any_of("google.protobuf.Value", '"value":null')),
    "AnyWithValueForJsonObject": (ALL, any_of("google.protobuf.Value", '"value":{"foo":1}')),
    "AnyWithListValue": (ALL, any_of("google.protobuf.ListValue", '"value":[1,{}]')),
    "AnyWithAFieldNamedValue": (ALL, any_of(ALL, '"value":{"value":1}')),
    "AnyWithoutMembers": (ALL, '{"any":{}}'),
    "AnyRepeated": (ALL, f'{{"anys":[{{"@type":"{TYPE}/{ALL}"}},{{}},{{"@type":"a/{NAMES}","fieldname1":1}}]}}'),
    "AnyAlone": ("google.protobuf.Any", f'{{"@type":"{TYPE}/{ALL}","colour":"RED"}}'),
    "AnyOfProto2": (ALL, any_of(OLD, '"id":3,"[old.v1.extra]":"x"')),
    "AnyOfEditions": (ALL, any_of(MODERN, '"required":3,"part":{"size":1}')),
    # proto2
    "RequiredFieldOnly": (OLD, '{"id":0}'),
    "GroupField": (OLD, '{"id":1,"part":{"size":2,"deeper":{"depth":3}}}'),
    "GroupFieldRepeated": (OLD, '{"id":1,"piece":[{"weight":1},{"weight":2}]}'),
    "DefaultValueGiven": (OLD, '{"id":1,"name":"none","ratio":"Infinity"}'),
    "Extension": (OLD, '{"id":1,"[old.v1.extra]":"text"}'),
    "ExtensionRepeated": (OLD, '{"id":1,"[old.v1.more]":[1,2],"[old.v1.packed_more]":[3,4]}'),
    "ExtensionMessage": (OLD, '{"id":1,"[old.v1.further]":{"id":2,"[old.v1.extra]":"inner"}}'),
    "ExtensionEnum": (OLD, '{"id":1,"[old.v1.closed_extra]":"TWO"}'),
    "ExtensionGroup": (OLD, '{"id":1,"[old.v1.added]":{"depth":3}}'),
    "ExtensionInAMessage": (OLD, '{"id":1,"[old.v1.Scope.scope]":{"width":4}}'),
    "ExtensionNull": (OLD, '{"id":1,"[old.v1.extra]":null,"[old.v1.more]":null}'),
    "ExtensionOfAnotherMessage": ("old.v1.Loose", '{"[old.v1.Scope.note]":"x"}'),
    "ClosedEnumRepeated": (OLD, '{"id":1,"closeds":["ONE",2]}'),
    "ClosedEnumInAMap": (OLD, '{"id":1,"zeroedByName":{"a":"THREE","b":0}}'),
    "MapOfRequired": (OLD, '{"id":1,"byNumber":{"1":{"id":2}},"list":[{"id":3}]}'),
    # Editions
    "EditionsPresence": (MODERN, '{"required":0,"explicit":0,"implicit":0,"implicitText":""}'),
    "EditionsRepeated": (MODERN, '{"required":1,"packed":[1,2],"expanded":[3,4]}'),
    "EditionsDelimited": (MODERN, '{"required":1,"part":{"size":1},"prefixed":{"size":2},"parts":[{},{"name":"a"}]}'),
    "EditionsDelimitedInside": (MODERN, '{"required":1,"below":{"required":2,"below":{"required":3}}}'),
    "EditionsDelimitedWellKnown": (MODERN, '{"required":1,"time":"2020-01-01T00:00:00Z"}'),
    "EditionsDelimitedOneof": (MODERN, '{"required":1,"chosen":{"size":1}}'),
    "EditionsEnums": (MODERN, '{"required":1,"open":7,"shut":"SHUT_TWO","shuts":[1,"SHUT_TWO"]}'),
    "EditionsMaps": (MODERN, '{"required":1,"zeroedByName":{"a":2},"partByNumber":{"-1":{"size":1}}}'),
    "EditionsUnchecked": (MODERN, '{"required":1,"checked":"é","unchecked":"é"}'),
    "EditionsExtensions": (MODERN, '{"required":1,"[modern.v1.added]":{"size":1},"[modern.v1.numbers]":[1,2]}'),
}  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_is_accepted(types, classes, case):
    name, text, *meant = ACCEPTED[case]
    expected = classes.parse(name, meant[0] if meant else text)
    read = classes[name].FromString(types.encode(name, text))
    assert read.SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)


def test_null_is_accepted_for_every_field(types, classes):
    """AllFieldAcceptNull: it is the same as no member, but for Value and what may be null."""
    fields = classes[ALL].DESCRIPTOR.fields
    null = json.dumps({field.json_name: None for field in fields if field.name not in ("nothing", "anything")})
    read = classes[ALL].FromString(types.encode(ALL, null))
    assert read == classes.parse(ALL, '{"value":null,"maybeNull":"NULL_VALUE"}')


UTF8 = "the text is not UTF-8"
EARLY = "the JSON ends too early"
BAD = "not valid JSON"

# How a case is called: its type, its JSON, and words that the error has.
REJECTED = {
    # The grammar of JSON
    "Empty": (REQUEST, "", EARLY),
    "OnlySpace": (REQUEST, " \n", EARLY),
    "TopLevelNull": (REQUEST, "null", REQUEST),
    "TopLevelArray": (REQUEST, "[]", REQUEST),
    "TopLevelString": (REQUEST, '"name"', REQUEST),
    "TopLevelNumber": (REQUEST, "1", REQUEST),
    "TopLevelTimestampNull": ("google.protobuf.Timestamp", "null", "google.protobuf.Timestamp"),
    "TopLevelStructNull": ("google.protobuf.Struct", "null", "google.protobuf.Struct"),
    "TopLevelWrapperNull": ("google.protobuf.Int32Value", "null", "google.protobuf.Int32Value"),
    "TopLevelAnyNull": ("google.protobuf.Any", "null", "google.protobuf.Any"),
    "Unclosed": (REQUEST, '{"name":"a"', EARLY),
    "UnclosedString": (REQUEST, '{"name":"a}', EARLY),
    "UnclosedArray": (ALL, '{"ints":[1', EARLY),
    "EndsInAnEscape": (REQUEST, '{"name":"a\\', EARLY),
    "EndsInAName": (REQUEST, '{"name"', EARLY),
    "EndsBehindColon": (REQUEST, '{"name":', EARLY),
    "EndsBehindComma": (REQUEST, '{"name":"a",', EARLY),
    "TrailingCommaInAnObject": (REQUEST, '{"name":"a",}', "byte 12"),
    "TrailingCommaInAnObjectWithSpace": (REQUEST, '{"name":"a", \n }', "byte"),
    "TrailingCommaInAnArray": (ALL, '{"ints":[1,]}', "byte 11"),
    "LeadingComma": (REQUEST, '{,"name":"a"}', "byte 1"),
    "TwoCommas": (ALL, '{"ints":[1,,2]}', "byte 11"),
    "MissingComma": (REQUEST, '{"name":"a" "times":1}', "byte 12"),
    "MissingCommaInAnArray": (ALL, '{"ints":[1 2]}', "byte 11"),
    "MissingColon": (REQUEST, '{"name" "a"}', "byte 8"),
    "TwoColons": (REQUEST, '{"name"::"a"}', "/name"),
    "SingleQuotes": (REQUEST, "{'name':'a'}", "byte 1"),
    "SingleQuotedValue": (REQUEST, "{\"name\":'a'}", "byte 8"),
    "FieldNameNotQuoted": (REQUEST, '{name:"a"}', "byte 1"),
    "Comment": (REQUEST, '{/* no */"name":"a"}', "byte 1"),
    "LineComment": (REQUEST, '{"name":"a"} // no', "byte 13"),
    "TwoValues": (REQUEST, "{}{}", "byte 2"),
    "TextBehind": (REQUEST, "{} x", "byte 3"),
    "NulBehind": (REQUEST, "{}\0", "byte 2"),
    "ByteOrderMark": (REQUEST, "\ufeff{}", "byte 0"),
    "VerticalTab": (REQUEST, '{\x0b"name":"a"}', "byte 1"),
    "NoBreakSpace": (REQUEST, '{\u00a0"name":"a"}', "byte 1"),
    "ExtraClosingBrace": (REQUEST, "{}}", "byte 2"),
    "WrongBracket": (ALL, '{"ints":[1}', "byte 10"),
    "CapitalWord": (ALL, '{"boolValue":True}', BAD),
    "WordTooLong": (ALL, '{"boolValue":trueish}', BAD),
    "NullTooLong": (ALL, '{"inner":nulll}', "/inner"),
    "UndefinedWord": (ALL, '{"boolValue":undefined}', BAD),
    "NanWord": (ALL, '{"doubleValue":NaN}', BAD),
    "InfinityWord": (ALL, '{"doubleValue":Infinity}', BAD),
    "NegativeInfinityWord": (ALL, '{"doubleValue":-Infinity}', BAD),
    "ControlCharacterInAString": (REQUEST, '{"name":"a\nb"}', "control character"),
    "TabInAString": (REQUEST, '{"name":"a\tb"}', "control character"),
    "NulInAString": (REQUEST, '{"name":"a\0b"}', "control character"),
    "ControlCharacterInAName": (REQUEST, '{"na\x1fme":"a"}', "control character"),
    "InvalidUTF8": (REQUEST, b'{"name":"\xff"}', UTF8),
    "OverlongUTF8": (REQUEST, b'{"name":"\xc0\x80"}', UTF8),
    "SurrogateInUTF8": (REQUEST, b'{"name":"\xed\xa0\x80"}', UTF8),
    "TruncatedUTF8": (REQUEST, b'{"name":"\xe2\x82"}', UTF8),
    "BeyondUnicode": (REQUEST, b'{"name":"\xf4\x90\x80\x80"}', UTF8),
    "InvalidUTF8InAnUnknownField": (REQUEST, b'{"x":"\xff"}', UTF8),
    "UTF16": (REQUEST, '{"name":"a"}'.encode("utf-16"), UTF8),
    "StringFieldUnpairedHighSurrogate": (ALL, r'{"stringValue":"\uD800"}', "/stringValue"),
    "StringFieldUnpairedLowSurrogate": (ALL, r'{"stringValue":"\uDC00"}', "/stringValue"),
    "StringFieldSurrogateInWrongOrder": (ALL, r'{"stringValue":"\uDE01\uD83D"}', "/stringValue"),
    "StringFieldTwoHighSurrogates": (ALL, r'{"stringValue":"\uD83D\uD83D"}', "/stringValue"),
    "StringFieldHighSurrogateBeforeText": (ALL, r'{"stringValue":"\uD83Dx"}', "/stringValue"),
    "StringFieldUppercaseEscapeLetter": (ALL, r'{"stringValue":"\U8C37\U6b4C"}', "/stringValue"),
    "StringFieldInvalidEscape": (ALL, r'{"stringValue":"\x41"}', "/stringValue"),
    "StringFieldShortEscape": (ALL, r'{"stringValue":"\u12"}', "/stringValue"),
    "StringFieldSignInAnEscape": (ALL, r'{"stringValue":"\u+123"}', "/stringValue"),
    "LoneSurrogateInAName": (REQUEST, r'{"\uD800":1}', REQUEST),
    "LoneSurrogateInAKey": (ALL, r'{"byName":{"\uDC00":1}}', "/byName"),
    # Names
    "UnknownField": (REQUEST, '{"inner":{"colour":1}}', 'kinds.v1.Request: no field "colour" at /inner'),
    "UnknownFieldAtTheTop": (REQUEST, '{"colour":1}', 'kinds.v1.Request: no field "colour"'),
    "UnknownFieldInAList": (ALL, '{"list":[{},{"x":1}]}', 'kinds.v1.All: no field "x" at /list/1'),
    "UnknownFieldInAMap": (ALL, '{"allByName":{"a/b~":{"x":1}}}', 'kinds.v1.All: no field "x" at /allByName/a~1b~0'),
    "UnknownFieldInAnAny": (ALL, any_of(NAMES, '"x":1'), 'kinds.v1.Names: no field "x" at /any'),
    "UnknownFieldNull": (REQUEST, '{"x":null}', 'no field "x"'),
    "UnknownFieldEmptyName": (REQUEST, '{"":1}', 'kinds.v1.Request: no field ""'),
    "UnknownFieldOtherCase": (REQUEST, '{"Name":"a"}', 'no field "Name"'),
    "UnknownFieldWithNul": (REQUEST, '{"name\\u0000":"a"}', "no field"),
    "UnknownFieldByNumber": (REQUEST, '{"1":"a"}', 'no field "1"'),
    "UnknownFieldNameOfAOneof": (ALL, '{"choice":{}}', 'no field "choice"'),
    "FieldNameDuplicate": (ALL, '{"int32Value":1,"int32Value":1}', "int32Value"),
    "FieldNameDuplicateDifferentCasing1": (ALL, '{"int32Value":1,"int32_value":1}', "int32_value"),
    "FieldNameDuplicateDifferentCasing2": (ALL, '{"int32_value":1,"int32Value":1}', "int32Value"),
    "FieldNameDuplicateOfANull": (ALL, '{"int32Value":null,"int32_value":1}', "int32_value"),
    "FieldNameDuplicateMessage": (ALL, '{"inner":{},"inner":{}}', "/inner"),
    "FieldNameDuplicateList": (ALL, '{"ints":[1],"ints":[2]}', "/ints"),
    "FieldNameDuplicateMap": (ALL, '{"byName":{},"by_name":{}}', "/by_name"),
    "FieldNameDuplicateEscaped": (ALL, '{"int32Value":1,"\\u0069nt32Value":1}', "int32Value"),
    "FieldNameDuplicateHighNumber": (ALL, '{"wrappedByName":{},"wrappedByName":{}}', "/wrappedByName"),
    "FieldNameDuplicateExtension": (OLD, '{"id":1,"[old.v1.extra]":"a","[old.v1.extra]":"b"}', "old.v1.extra"),
    "MapFieldDuplicateKey": (ALL, '{"byName":{"a":1,"a":1}}', "/byName/a"),
    "MapFieldDuplicateKeyEscaped": (ALL, '{"byName":{"a":1,"\\u0061":1}}', "/byName/a"),
    "MapFieldDuplicateNumber": (ALL, '{"byNumber":{"1":"a","1.0":"b"}}', "/byNumber"),
    "MapFieldDuplicateBool": (ALL, '{"byBool":{"true":{},"true":{}}}', "/byBool/true"),
    "StructDuplicateKey": (ALL, '{"structure":{"a":1,"a":2}}', "/structure"),
    "ValueDuplicateKey": (ALL, '{"value":{"a":{"b":1,"b":2}}}', "/value/a"),
    "OneofFieldDuplicate": (ALL, '{"text":"test","number":1}', "/number"),
    "OneofFieldDuplicateWithNullValue": (ALL, '{"nothing":null,"text":"a"}', "/text"),
    "OneofFieldDuplicateWithValueNull": (ALL, '{"text":"a","anything":null}', "/anything"),
    "OneofFieldDuplicateOfProto2": (OLD, '{"id":1,"number":1,"kind":"ONE"}', "/kind"),
    # Integers
    "Int32FieldTooLarge": (ALL, '{"int32Value":2147483648}', "/int32Value"),
    "Int32FieldTooSmall": (ALL, '{"int32Value":-2147483649}', "/int32Value"),
    "Int32FieldTooLargeQuoted": (ALL, '{"int32Value":"2147483648"}', "/int32Value"),
    "Int32FieldNotInteger": (ALL, '{"int32Value":0.5}', "/int32Value"),
    "Int32FieldNotIntegerQuoted": (ALL, '{"int32Value":"0.5"}', "/int32Value"),
    "Int32FieldTinyFraction": (ALL, '{"int32Value":1.0000000000000000000001}', "/int32Value"),
    "Int32FieldLeadingZero": (ALL, '{"int32Value":01}', "/int32Value"),
    "Int32FieldNegativeWithLeadingZero": (ALL, '{"int32Value":-01}', "/int32Value"),
    "Int32FieldLeadingZeroQuoted": (ALL, '{"int32Value":"01"}', "/int32Value"),
    "Int32FieldLeadingSpace": (ALL, '{"int32Value":" 1"}', "/int32Value"),
    "Int32FieldTrailingSpace": (ALL, '{"int32Value":"1 "}', "/int32Value"),
    "Int32FieldPlusSign": (ALL, '{"int32Value":+1}', "/int32Value"),
    "Int32FieldPlusSignQuoted": (ALL, '{"int32Value":"+1"}', "/int32Value"),
    "Int32FieldNoDigits": (ALL, '{"int32Value":-}', "/int32Value"),
    "Int32FieldPointOnly": (ALL, '{"int32Value":1.}', "/int32Value"),
    "Int32FieldNoWhole": (ALL, '{"int32Value":.5}', "/int32Value"),
    "Int32FieldNoExponent": (ALL, '{"int32Value":1e}', "/int32Value"),
    "Int32FieldHexadecimal": (ALL, '{"int32Value":0x1}', "byte 15"),
    "Int32FieldHexadecimalQuoted": (ALL, '{"int32Value":"0x1"}', "/int32Value"),
    "Int32FieldUnderscore": (ALL, '{"int32Value":"1_0"}', "/int32Value"),
    "Int32FieldOtherDigits": (ALL, '{"int32Value":"\u0661"}', "/int32Value"),
    "Int32FieldEmptyString": (ALL, '{"int32Value":""}', "/int32Value"),
    "Int32FieldWord": (ALL, '{"int32Value":"NaN"}', "/int32Value"),
    "Int32FieldBool": (ALL, '{"int32Value":true}', "/int32Value"),
    "Int32FieldObject": (ALL, '{"int32Value":{}}', "/int32Value"),
    "Int32FieldArray": (ALL, '{"int32Value":[1]}', "/int32Value"),
    "Int32FieldHugeExponent": (ALL, '{"int32Value":1e400}', "/int32Value"),
    "Int32FieldHugestExponent": (ALL, '{"int32Value":1e99999999999999999999}', "/int32Value"),
    "Int32FieldHugestNegativeExponent": (ALL, '{"int32Value":1e-99999999999999999999}', "/int32Value"),
    "Uint32FieldTooLarge": (ALL, '{"uint32Value":4294967296}', "/uint32Value"),
    "Uint32FieldNegative": (ALL, '{"uint32Value":-1}', "/uint32Value"),
    "Int64FieldTooLarge": (ALL, '{"int64Value":9223372036854775808}', "/int64Value"),
    "Int64FieldTooSmall": (ALL, '{"int64Value":"-9223372036854775809"}', "/int64Value"),
    "Uint64FieldTooLarge": (ALL, '{"uint64Value":"18446744073709551616"}', "/uint64Value"),
    "Uint64FieldNegative": (ALL, '{"uint64Value":"-1"}', "/uint64Value"),
    "Uint64FieldNotInteger": (ALL, '{"uint64Value":18446744073709551614.5}', "/uint64Value"),
    "Fixed64FieldTooLarge": (ALL, '{"fixed64Value":1e20}', "/fixed64Value"),
    # Numbers with a point
    "FloatFieldTooLarge": (ALL, '{"floatValue":3.502823e+38}', "/floatValue"),
    "FloatFieldTooSmall": (ALL, '{"floatValue":-3.502823e+38}', "/floatValue"),
    "DoubleFieldTooLarge": (ALL, '{"doubleValue":1.89769e+308}', "/doubleValue"),
    "DoubleFieldTooSmall": (ALL, '{"doubleValue":-1.89769e+308}', "/doubleValue"),
    "DoubleFieldHuge": (ALL, '{"doubleValue":1e400}', "/doubleValue"),
    "DoubleFieldHugeQuoted": (ALL, '{"doubleValue":"1e400"}', "/doubleValue"),
    "DoubleFieldInf": (ALL, '{"doubleValue":"inf"}', "/doubleValue"),
    "DoubleFieldPlusInfinity": (ALL, '{"doubleValue":"+Infinity"}', "/doubleValue"),
    "DoubleFieldNanLowercase": (ALL, '{"doubleValue":"nan"}', "/doubleValue"),
    "DoubleFieldNegativeNan": (ALL, '{"doubleValue":"-NaN"}', "/doubleValue"),
    "DoubleFieldEmptyString": (ALL, '{"doubleValue":""}', "/doubleValue"),
    "DoubleFieldHexadecimal": (ALL, '{"doubleValue":"0x1p3"}', "/doubleValue"),
    "DoubleFieldComma": (ALL, '{"doubleValue":"1,5"}', "/doubleValue"),
    "DoubleFieldSpace": (ALL, '{"doubleValue":" 1"}', "/doubleValue"),
    # Booleans and enumerations
    "BoolFieldQuoted": (ALL, '{"boolValue":"true"}', "/boolValue"),
    "BoolFieldNumber": (ALL, '{"boolValue":1}', "/boolValue"),
    "BoolFieldEmptyString": (ALL, '{"boolValue":""}', "/boolValue"),
    "EnumFieldNotQuoted": (ALL, '{"colour":RED}', BAD),
    "EnumFieldUnknownName": (ALL, '{"colour":"PURPLE"}', "kinds.v1.Colour at /colour"),
    "EnumFieldOtherCase": (ALL, '{"colour":"red"}', "/colour"),
    "EnumFieldQuotedNumber": (ALL, '{"colour":"1"}', "/colour"),
    "EnumFieldFullName": (ALL, '{"colour":"kinds.v1.RED"}', "/colour"),
    "EnumFieldNotInteger": (ALL, '{"colour":0.5}', "/colour"),
    "EnumFieldTooLarge": (ALL, '{"colour":2147483648}', "/colour"),
    "EnumFieldBool": (ALL, '{"colour":true}', "/colour"),
    "EnumFieldClosedUnknownNumber": (OLD, '{"id":1,"closed":3}', "/closed"),
    "EnumFieldClosedUnknownNumberInAList": (OLD, '{"id":1,"closeds":[1,3]}', "/closeds/1"),
    "EditionsEnumFieldClosedUnknownNumber": (MODERN, '{"required":1,"shut":3}', "/shut"),
    "NullValueUnknownName": (ALL, '{"nullValue":"NONE"}', "/nullValue"),
    # Strings and bytes
    "StringFieldNotAString": (ALL, '{"stringValue":12345}', "/stringValue"),
    "StringFieldBool": (ALL, '{"stringValue":true}', "/stringValue"),
    "StringFieldObject": (ALL, '{"stringValue":{}}', "/stringValue"),
    "BytesFieldInvalidBase64Characters": (ALL, '{"bytesValue":"!!!="}', "/bytesValue"),
    "BytesFieldImpossibleLength": (ALL, '{"bytesValue":"AQIDB"}', "/bytesValue"),
    "BytesFieldPaddingOnly": (ALL, '{"bytesValue":"===="}', "/bytesValue"),
    "BytesFieldPaddingInside": (ALL, '{"bytesValue":"AQ==AQ=="}', "/bytesValue"),
    "BytesFieldTooMuchPadding": (ALL, '{"bytesValue":"AQI=="}', "/bytesValue"),
    "BytesFieldLineBreak": (ALL, '{"bytesValue":"AQ\\nI="}', "/bytesValue"),
    "BytesFieldNumber": (ALL, '{"bytesValue":1}', "/bytesValue"),
    # Messages, lists and maps
    "MessageFieldNotMessage": (ALL, '{"inner":1}', "/inner"),
    "MessageFieldArray": (ALL, '{"inner":[]}', "/inner"),
    "MessageFieldString": (ALL, '{"inner":"{}"}', "/inner"),
    "RepeatedFieldWrongElementTypeExpectingIntegersGotString": (ALL, '{"ints":[1,"a"]}', "/ints/1"),
    "RepeatedFieldWrongElementTypeExpectingIntegersGotMessage": (ALL, '{"ints":[1,{}]}', "/ints/1"),
    "RepeatedFieldWrongElementTypeExpectingStringsGotInt": (ALL, '{"texts":["a",1]}', "/texts/1"),
    "RepeatedFieldWrongElementTypeExpectingMessagesGotString": (ALL, '{"list":[{},"a"]}', "/list/1"),
    "RepeatedFieldSingleElement": (ALL, '{"ints":1}', "/ints"),
    "RepeatedFieldObject": (ALL, '{"ints":{}}', "/ints"),
    "RepeatedFieldNested": (ALL, '{"ints":[[1]]}', "/ints/0"),
    "RepeatedFieldNullElement": (ALL, '{"ints":[1,null]}', "/ints/1"),
    "RepeatedFieldMessageElementIsNull": (ALL, '{"list":[{},null]}', "/list/1"),
    "RepeatedFieldStringElementIsNull": (ALL, '{"texts":[null]}', "/texts/0"),
    "RepeatedFieldEnumElementIsNull": (ALL, '{"colours":[null]}', "/colours/0"),
    "RepeatedFieldWrapperElementIsNull": (ALL, '{"manyWrapped":[null]}', "/manyWrapped/0"),
    "RepeatedFieldTimestampElementIsNull": (ALL, '{"times":[null]}', "/times/0"),
    "RepeatedFieldAnyElementIsNull": (ALL, '{"anys":[null]}', "/anys/0"),
    "RepeatedFieldStructElementIsNull": (ALL, '{"structures":[null]}', "/structures/0"),
    "RepeatedFieldListValueElementIsNull": (ALL, '{"lists":[null]}', "/lists/0"),
    "MapFieldValueIsNull": (ALL, '{"byName":{"a":null}}', "/byName/a"),
    "MapFieldMessageValueIsNull": (ALL, '{"allByName":{"a":null}}', "/allByName/a"),
    "MapFieldEnumValueIsNull": (ALL, '{"coloursByName":{"a":null}}', "/coloursByName/a"),
    "MapFieldKeyIsNull": (ALL, '{"byName":{null:1}}', BAD),
    "MapFieldArray": (ALL, '{"byName":[]}', "/byName"),
    "StringMapKeyNotQuoted": (ALL, '{"byName":{a:1}}', BAD),
    "Int64MapFieldKeyNotQuoted": (ALL, '{"byNumber":{1:"a"}}', BAD),
    "BoolMapFieldKeyNotQuoted": (ALL, '{"byBool":{true:{}}}', BAD),
    "BoolMapFieldKeyOther": (ALL, '{"byBool":{"True":{}}}', "/byBool/True"),
    "BoolMapFieldKeyNumber": (ALL, '{"byBool":{"1":{}}}', "/byBool/1"),
    "Int64MapFieldKeyTooLarge": (ALL, '{"byNumber":{"9223372036854775808":"a"}}', "/byNumber/9223372036854775808"),
    "Int64MapFieldKeyNotInteger": (ALL, '{"byNumber":{"0.5":"a"}}', "/byNumber/0.5"),
    "Int64MapFieldKeyEmpty": (ALL, '{"byNumber":{"":"a"}}', "/byNumber"),
    "Int64MapFieldKeySpace": (ALL, '{"byNumber":{" 1":"a"}}', "/byNumber"),
    "Uint64MapFieldKeyNegative": (ALL, '{"timeByNumber":{"-1":"2020-01-01T00:00:00Z"}}', "/timeByNumber/-1"),
    "Int32MapFieldKeyTooLarge": (ALL, '{"doubleByNumber":{"2147483648":1}}', "/doubleByNumber/2147483648"),
    # Wrappers
    "WrapperBoolQuoted": (ALL, '{"wrappedBool":"true"}', "/wrappedBool"),
    "WrapperTooLarge": (ALL, '{"wrappedInt32":2147483648}', "/wrappedInt32"),
    "WrapperObject": (ALL, '{"wrappedInt32":{"value":1}}', "/wrappedInt32"),
    # Times
    **{
        f"Timestamp{name}": (ALL, f'{{"time":"{text}"}}', "google.protobuf.Timestamp")
        for name, text in {
            "JsonInputTooSmall": "0000-01-01T00:00:00Z",
            "JsonInputTooLarge": "10000-01-01T00:00:00Z",
            "JsonInputTooSmallByOffset": "0001-01-01T00:00:00+00:01",
            "JsonInputTooLargeByOffset": "9999-12-31T23:59:59-00:01",
            "JsonInputMissingZ": "0001-01-01T00:00:00",
            "JsonInputMissingT": "0001-01-01 00:00:00Z",
            "JsonInputLowercaseZ": "0001-01-01T00:00:00z",
            "JsonInputLowercaseT": "0001-01-01t00:00:00Z",
            "Day0": "2020-01-00T00:00:00Z",
            "Month13": "2020-13-01T00:00:00Z",
            "Month0": "2020-00-01T00:00:00Z",
            "NoLeapDay": "2023-02-29T00:00:00Z",
            "NoLeapDayOf1900": "1900-02-29T00:00:00Z",
            "April31": "2020-04-31T00:00:00Z",
            "Hour24": "2020-01-01T24:00:00Z",
            "Minute60": "2020-01-01T00:60:00Z",
            "Second60": "2020-01-01T00:00:60Z",
            "LeapSecond": "2016-12-31T23:59:60Z",
            "TenDigits": "2020-01-01T00:00:00.0000000001Z",
            "PointOnly": "2020-01-01T00:00:00.Z",
            "CommaFraction": "2020-01-01T00:00:00,5Z",
            "OffsetWithoutColon": "2020-01-01T00:00:00+0000",
            "OffsetOfHours": "2020-01-01T00:00:00+00",
            "Offset24": "2020-01-01T00:00:00+24:00",
            "OffsetBehindZ": "2020-01-01T00:00:00Z+00:00",
            "ShortFields": "2020-1-1T0:0:0Z",
            "NegativeYear": "-001-01-01T00:00:00Z",
            "Space": " 2020-01-01T00:00:00Z",
            "SpaceBehind": "2020-01-01T00:00:00Z ",
            "Empty": "",
            "Date": "2020-01-01",
            "NoSeconds": "2020-01-01T00:00Z",
        }.items()
    },
    "TimestampNumber": (ALL, '{"time":1}', "google.protobuf.Timestamp"),
    "TimestampObject": (ALL, '{"time":{"seconds":1}}', "google.protobuf.Timestamp"),
    **{
        f"Duration{name}": (ALL, f'{{"duration":"{text}"}}', "google.protobuf.Duration")
        for name, text in {
            "JsonInputTooSmall": "-315576000001s",
            "JsonInputTooLarge": "315576000001s",
            "MissingS": "1",
            "MissingSWithFraction": "1.5",
            "CapitalS": "1S",
            "OnlyS": "s",
            "OnlySign": "-s",
            "PlusSign": "+1s",
            "TwoSigns": "--1s",
            "SignBehindPoint": "1.-5s",
            "NoWhole": ".5s",
            "PointOnly": "1.s",
            "TenDigits": "1.0000000001s",
            "Exponent": "1e2s",
            "Space": "1 s",
            "LeadingSpace": " 1s",
            "TwoPoints": "1.5.5s",
            "Minutes": "1m",
            "Huge": "99999999999999999999s",
            "Empty": "",
        }.items()
    },
    "DurationNumber": (ALL, '{"duration":1}', "google.protobuf.Duration"),
    # FieldMask
    "FieldMaskInvalidCharacter": (ALL, '{"mask":"foo,bar_bar"}', "google.protobuf.FieldMask"),
    "FieldMaskSpace": (ALL, '{"mask":"foo, bar"}', "google.protobuf.FieldMask"),
    "FieldMaskEmptyPath": (ALL, '{"mask":"foo,,bar"}', "google.protobuf.FieldMask"),
    "FieldMaskTrailingComma": (ALL, '{"mask":"foo,"}', "google.protobuf.FieldMask"),
    "FieldMaskNotAString": (ALL, '{"mask":["foo"]}', "google.protobuf.FieldMask"),
    # Struct, Value, ListValue
    "StructArray": (ALL, '{"structure":[]}', "google.protobuf.Struct"),
    "StructNumber": (ALL, '{"structure":1}', "google.protobuf.Struct"),
    "StructKeyNotQuoted": (ALL, '{"structure":{a:1}}', "google.protobuf.Struct"),
    "ListValueObject": (ALL, '{"values":{}}', "google.protobuf.ListValue"),
    "ValueHuge": (ALL, '{"value":1e400}', "google.protobuf.Value"),
    "ValueNan": (ALL, '{"value":NaN}', "google.protobuf.Value"),
    "ValueLeadingZero": (ALL, '{"value":01}', "byte 9"),
    "ValueWord": (ALL, '{"value":nul}', "google.protobuf.Value"),
    "ValueTrailingComma": (ALL, '{"value":[1,]}', "byte"),
    # Any
    "AnyUnknownType": (ALL, any_of("nowhere.v1.Nothing"), "nowhere.v1.Nothing"),
    "AnyUnknownTypeInAList": (ALL, f'{{"anys":[{{}},{{"@type":"{TYPE}/nowhere.Nothing"}}]}}', "/anys/1"),
    "AnyWithNoType": (ALL, '{"any":{"int32Value":1}}', "google.protobuf.Any"),
    "AnyTypeNotAUrl": (ALL, f'{{"any":{{"@type":"{ALL}"}}}}', "google.protobuf.Any"),
    "AnyTypeEmpty": (ALL, '{"any":{"@type":""}}', "google.protobuf.Any"),
    "AnyTypeNumber": (ALL, '{"any":{"@type":1}}', "google.protobuf.Any"),
    "AnyTypeNull": (ALL, '{"any":{"@type":null}}', "google.protobuf.Any"),
    "AnyTypeEndsInASlash": (ALL, f'{{"any":{{"@type":"{TYPE}/"}}}}', "google.protobuf.Any"),
    "AnyTypeIsAnEnum": (ALL, any_of("kinds.v1.Colour"), "kinds.v1.Colour"),
    "AnyTypeTwice": (ALL, any_of(ALL, f'"@type":"{TYPE}/{ALL}"'), "@type"),
    "AnyTypeTwiceWellKnown": (
        ALL,
        any_of("google.protobuf.Duration", f'"value":"1s","@type":"{TYPE}/google.protobuf.Duration"'),
        "@type",
    ),
    "AnyWellKnownWithoutValue": (ALL, any_of("google.protobuf.Duration"), "google.protobuf.Duration"),
    "AnyWellKnownWithAnotherMember": (ALL, any_of("google.protobuf.Duration", '"value":"1s","x":1'), '"x"'),
    "AnyWellKnownValueTwice": (ALL, any_of("google.protobuf.Duration", '"value":"1s","value":"1s"'), "google.protobuf"),
    "AnyWellKnownWrongValue": (ALL, any_of("google.protobuf.Duration", '"value":"1"'), "google.protobuf.Duration"),
    "AnyWrongMember": (ALL, any_of(ALL, '"int32Value":"a"'), "/any/int32Value"),
    "AnyNotAnObject": (ALL, '{"any":"x"}', "google.protobuf.Any"),
    "AnyMissesARequiredField": (ALL, any_of(OLD, '"name":"a"'), OLD),
    "AnyJunkBeforeItsType": (ALL, f'{{"any":{{"x":[1,],"@type":"{TYPE}/{ALL}"}}}}', BAD),
    # proto2 and editions
    "RequiredFieldMissing": (OLD, "{}", "id"),
    "RequiredFieldMissingInside": (OLD, '{"id":1,"inner":{"name":"a"}}', "inner.id"),
    "RequiredFieldMissingInAList": (OLD, '{"id":1,"list":[{"id":2},{}]}', "list[1].id"),
    "RequiredFieldMissingInAMap": (OLD, '{"id":1,"byNumber":{"7":{}}}', "by_number[7].id"),
    "RequiredFieldMissingInAnExtension": (OLD, '{"id":1,"[old.v1.further]":{}}', "further"),
    "RequiredFieldNull": (OLD, '{"id":null}', "id"),
    "RequiredFieldMissingInAGroup": (OLD, '{"id":1,"piece":[{}]}', "weight"),
    "EditionsRequiredFieldMissing": (MODERN, '{"explicit":1}', "required"),
    "ExtensionUnknown": (OLD, '{"id":1,"[old.v1.nothing]":1}', "[old.v1.nothing]"),
    "ExtensionOfAnother": (OLD, '{"id":1,"[old.v1.Scope.note]":"x"}', "[old.v1.Scope.note]"),
    "ExtensionWithoutBrackets": (OLD, '{"id":1,"old.v1.extra":"x"}', "old.v1.extra"),
    "ExtensionByShortName": (OLD, '{"id":1,"[extra]":"x"}', "[extra]"),
    "ExtensionInCamelCase": (OLD, '{"id":1,"[old.v1.packedMore]":[1]}', "[old.v1.packedMore]"),
    "ExtensionOfAWrongType": (OLD, '{"id":1,"[old.v1.extra]":1}', "old.v1.extra"),
    "GroupByItsType": (OLD, '{"id":1,"Part":{}}', 'no field "Part"'),
    "AtTypeOutsideOfAny": (ALL, f'{{"@type":"{TYPE}/{ALL}"}}', '"@type"'),
}  # fmt: skip


@pytest.mark.parametrize("case", REJECTED)
def test_what_is_rejected(types, case):
    name, text, words = REJECTED[case]
    assert words in types.error("encode", name, text)


# How deep messages are nested: one of `count` messages, and the type.
NESTED = {
    "message": (ALL, lambda count: '{"inner":' * (count - 1) + "{}" + "}" * (count - 1)),
    "list": (ALL, lambda count: '{"list":[' * (count - 1) + "{}" + "]}" * (count - 1)),
    "any": (
        "google.protobuf.Any",
        lambda count: f'{{"@type":"{TYPE}/google.protobuf.Any","value":' * (count - 1) + "{}" + "}" * (count - 1),
    ),
    "group": (
        MODERN,
        lambda count: '{"required":1,"below":' * (count - 1) + '{"required":1}' + "}" * (count - 1),
    ),
}


@pytest.mark.parametrize("kind", NESTED)
def test_a_hundred_messages_may_be_nested(types, kind):
    name, text = NESTED[kind]
    assert types.encode(name, text(99))
    assert types.encode(name, text(100))
    assert "nested more than 100 deep" in types.error("encode", name, text(101))


# What has maps in it: whether their entries count as messages, too, another file checks.
MAPS = {
    "map": (ALL, '{"allByName":{"a":', "}}"),
    "structure": ("google.protobuf.Struct", '{"a":', "}"),
    "lists in a structure": ("google.protobuf.Struct", '{"a":[', "]}"),
    "structures in an Any": (
        "google.protobuf.Any", f'{{"@type":"{TYPE}/google.protobuf.Any","value":{{"@type":"{TYPE}/{ALL}","structure":{{"a":', "}}}"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", MAPS)
def test_maps_are_not_nested_without_end(types, kind):
    name, opening, closing = MAPS[kind]
    once = opening + "{}" + closing if kind == "structures in an Any" else opening * 19 + "{}" + closing * 19
    assert types.encode(name, once)
    assert "nested more than 100 deep" in types.error("encode", name, opening * 101 + "{}" + closing * 101)


@pytest.mark.parametrize("opening, closing", [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_lists_and_structures_count_alike(types, opening, closing):
    """Each is a message, and the Value around it another."""
    count = 101 // len(opening.replace('"a":', ""))
    text = '{"value":' + opening * count + "1" + closing * count + "}"
    assert "nested more than 100 deep" in types.error("encode", ALL, text)


def test_there_is_no_such_type(types):
    assert "nowhere.v1.Nothing" in types.error("encode", "nowhere.v1.Nothing", "{}")


def test_the_same_json_is_the_same_message(types):
    """The order of the members makes no difference."""
    text = '{"int32Value":1,"byName":{"a":1,"b":2,"c":3},"structure":{"x":1,"y":2}}'
    other = '{"structure":{"y":2,"x":1},"byName":{"c":3,"b":2,"a":1},"int32Value":1}'
    assert types.encode(ALL, text) == types.encode(ALL, other)


@pytest.mark.parametrize(
    "name, text",
    [
        (REQUEST, r'{"a\nb":1}'),
        (REQUEST, r'{"\u001b[31m":1}'),
        (REQUEST, r'{"a\u0000b":1}'),
        (REQUEST, '{"\u202e":1}'),
        (ALL, r'{"colour":"a\nb"}'),
        (ALL, r'{"int32Value":"a\nb"}'),
        (ALL, r'{"time":"a\nb"}'),
        (ALL, r'{"duration":"a\nb"}'),
        (ALL, r'{"mask":"a\nb"}'),
        (ALL, r'{"byName":{"a\nb":"x"}}'),
        (ALL, r'{"any":{"@type":"x/a\nb"}}'),
        (ALL, r'{"any":{"@type":"a\nb"}}'),
        (REQUEST, '{"' + "x" * 100_000 + '":1}'),
        (ALL, '{"byName":{"' + "x" * 100_000 + '":"x"}}'),
        (ALL, '{"int32Value":' + "1" * 100_000 + "}"),
        (ALL, '{"colour":"' + "x" * 100_000 + '"}'),
        (ALL, '{"any":{"@type":"x/' + "x" * 100_000 + '"}}'),
    ],
    ids=lambda given: ascii(given)[:30],
)
def test_an_error_is_one_short_line(types, name, text):
    """What is shown of the JSON has no control characters and an end."""
    words = types.error("encode", name, text)
    assert words.isprintable() and len(words) < 10_000
