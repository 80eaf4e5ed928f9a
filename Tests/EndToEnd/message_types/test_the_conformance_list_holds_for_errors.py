"""What Protobuf's conformance list rejects is rejected: its cases for JSON that is wrong, by their names.

Cases that are the same in `test_json_is_read_as_protobuf_says.py` are there alone.
"""

import pytest
from google.protobuf import text_format

ALL = "kinds.v1.All"
NAMES = "kinds.v1.Names"
OTHERS = "kinds.v1.Others"

DEEP = "nested more than 100 deep"

# How the list calls a case: its type, its JSON, and words that the error has.
REJECTED = {
    # The grammar of JSON
    "RejectTopLevelNull": (ALL, "null", "kinds.v1.All"),
    "StringEndsWithEscapeChar": (ALL, '{"stringValue": "abc\\', "the JSON ends too early at /stringValue"),
    "FieldNameNotQuoted": (NAMES, "{fieldname1:1}", 'unexpected "f" at byte 1'),
    "TrailingCommaInAnObject": (NAMES, '{"fieldname1":1,}', "at byte 16"),
    "TrailingCommaInAnObjectWithSpace": (NAMES, '{"fieldname1":1 ,}', "at byte 17"),
    "TrailingCommaInAnObjectWithSpaceCommaSpace": (NAMES, '{"fieldname1":1 , }', "at byte 18"),
    "TrailingCommaInAnObjectWithNewlines": (NAMES, '{\n  "fieldname1":1,\n}', "at byte 20"),
    "JsonWithComments": (NAMES, '{\n  // Nothing.\n  "fieldname1": 1\n}', "at byte 4"),
    "MissingCommaOneLine": (ALL, '{ "int32Value": 1 "int64Value": 2 }', "at byte 18"),
    "MissingCommaMultiline": (ALL, '{\n  "int32Value": 1\n  "int64Value": 2\n}', "at byte 22"),
    # The list lets a reader choose: an error, or the last one wins. Two readers must not read two things.
    "FieldNameDuplicate": (ALL, '{"inner":{"int32Value":1},"inner":{}}', "the field comes twice at /inner"),
    "FieldNameDuplicateDifferentCasing1": (ALL, '{"wrapped_string":"a","wrappedString":""}', "the field comes twice at /wrappedString"),
    "FieldNameDuplicateDifferentCasing2": (ALL, '{"wrappedString":"a","wrapped_string":""}', "the field comes twice at /wrapped_string"),
    # Numbers
    "Int64FieldTooLarge": (ALL, '{"int64Value":"9223372036854775808"}', "out of the range of int64 at /int64Value"),
    "Uint64QuotedExponentFieldTooLarge": (ALL, '{"uint64Value":"1e536870000"}', "out of the range of uint64 at /uint64Value"),
    "Uint32FieldNotInteger": (ALL, '{"uint32Value":0.5}', "not a value of the type uint32 at /uint32Value"),
    "Int64FieldNotInteger": (ALL, '{"int64Value":"0.5"}', "not a value of the type int64 at /int64Value"),
    "Uint64FieldNotInteger": (ALL, '{"uint64Value":"0.5"}', "not a value of the type uint64 at /uint64Value"),
    "Int32FieldTrueValue": (ALL, '{"int32Value":true}', "type int32 at /int32Value"),
    "Int32FieldFalseValue": (ALL, '{"int32Value":false}', "type int32 at /int32Value"),
    "Int32FieldStringValuePartiallyNumeric": (ALL, '{"int32Value":"12abc"}', "type int32 at /int32Value"),
    "Int32FieldStringValuePartiallyNumericSpace": (ALL, '{"int32Value":"12 34"}', "type int32 at /int32Value"),
    "Int32FieldStringValuePartiallyNumericComma": (ALL, '{"int32Value":"12,34"}', "type int32 at /int32Value"),
    "Int32FieldStringValuePartiallyNumericUnicode": (ALL, '{"int32Value":"12谷歌34"}', "type int32 at /int32Value"),
    "Int32FieldStringValueNonNumeric": (ALL, '{"int32Value":"abc"}', "type int32 at /int32Value"),
    "Uint32FieldEmptyString": (ALL, '{"uint32Value":""}', "type uint32 at /uint32Value"),
    "Int64FieldEmptyString": (ALL, '{"int64Value":""}', "type int64 at /int64Value"),
    "Uint64FieldEmptyString": (ALL, '{"uint64Value":""}', "type uint64 at /uint64Value"),
    "Int32FieldNotNumber": (ALL, '{"int32Value":"3x3"}', "type int32 at /int32Value"),
    "Uint32FieldNotNumber": (ALL, '{"uint32Value":"3x3"}', "type uint32 at /uint32Value"),
    "Int64FieldNotNumber": (ALL, '{"int64Value":"3x3"}', "type int64 at /int64Value"),
    "Uint64FieldNotNumber": (ALL, '{"uint64Value":"3x3"}', "type uint64 at /uint64Value"),
    # Booleans
    "BoolFieldIntegerZero": (ALL, '{"boolValue":0}', "type bool at /boolValue"),
    "BoolFieldIntegerOne": (ALL, '{"boolValue":1}', "type bool at /boolValue"),
    "BoolFieldCamelCaseTrue": (ALL, '{"boolValue":True}', "at byte 13 at /boolValue"),
    "BoolFieldCamelCaseFalse": (ALL, '{"boolValue":False}', "at byte 13 at /boolValue"),
    "BoolFieldAllCapitalTrue": (ALL, '{"boolValue":TRUE}', "at byte 13 at /boolValue"),
    "BoolFieldAllCapitalFalse": (ALL, '{"boolValue":FALSE}', "at byte 13 at /boolValue"),
    "BoolFieldDoubleQuotedTrue": (ALL, '{"boolValue":"true"}', "type bool at /boolValue"),
    "BoolFieldDoubleQuotedFalse": (ALL, '{"boolValue":"false"}', "type bool at /boolValue"),
    # Numbers with a point
    "FloatFieldNanNotQuoted": (ALL, '{"floatValue":NaN}', "at /floatValue"),
    "FloatFieldInfinityNotQuoted": (ALL, '{"floatValue":Infinity}', "at /floatValue"),
    "FloatFieldNegativeInfinityNotQuoted": (ALL, '{"floatValue":-Infinity}', "at /floatValue"),
    "FloatFieldEmptyString": (ALL, '{"floatValue":""}', "type float at /floatValue"),
    "FloatFieldStringValuePartiallyNumeric": (ALL, '{"floatValue":"12abc"}', "type float at /floatValue"),
    "FloatFieldStringValueNonNumeric": (ALL, '{"floatValue":"abc"}', "type float at /floatValue"),
    "FloatFieldStringValuePartiallyNumericSpace": (ALL, '{"floatValue":"12 34"}', "type float at /floatValue"),
    "FloatFieldStringValuePartiallyNumericComma": (ALL, '{"floatValue":"12,34"}', "type float at /floatValue"),
    "FloatFieldStringValuePartiallyNumericUnicode": (ALL, '{"floatValue":"12谷歌34"}', "type float at /floatValue"),
    "FloatFieldTrueValue": (ALL, '{"floatValue":true}', "type float at /floatValue"),
    "FloatFieldFalseValue": (ALL, '{"floatValue":false}', "type float at /floatValue"),
    "DoubleFieldNanNotQuoted": (ALL, '{"doubleValue":NaN}', "at /doubleValue"),
    "DoubleFieldInfinityNotQuoted": (ALL, '{"doubleValue":Infinity}', "at /doubleValue"),
    "DoubleFieldNegativeInfinityNotQuoted": (ALL, '{"doubleValue":-Infinity}', "at /doubleValue"),
    "DoubleFieldStringValuePartiallyNumeric": (ALL, '{"doubleValue":"12abc"}', "type double at /doubleValue"),
    "DoubleFieldStringValueNonNumeric": (ALL, '{"doubleValue":"abc"}', "type double at /doubleValue"),
    "DoubleFieldTrueValue": (ALL, '{"doubleValue":true}', "type double at /doubleValue"),
    "DoubleFieldFalseValue": (ALL, '{"doubleValue":false}', "type double at /doubleValue"),
    # Enumerations and strings
    "EnumFieldNotQuoted": (ALL, '{"colour":NONE}', "at byte 10 at /colour"),
    "EnumFieldSingleElementArrayEnumName": (ALL, '{"colour":["NONE"]}', "type kinds.v1.Colour at /colour"),
    "EnumFieldSingleElementArrayNumericValue": (ALL, '{"colour":[2]}', "type kinds.v1.Colour at /colour"),
    "EnumFieldTrueValue": (ALL, '{"colour":true}', "type kinds.v1.Colour at /colour"),
    "EnumFieldFalseValue": (ALL, '{"colour":false}', "type kinds.v1.Colour at /colour"),
    "StringFieldInvalidEscape": (ALL, r'{"stringValue":"\uXXXX\u6B4C"}', "a string has an invalid escape at byte 16 at /stringValue"),
    "StringFieldUnterminatedEscape": (ALL, r'{"stringValue":"\u8C3"}', "a string has an invalid escape at byte 16 at /stringValue"),
    # Of a oneof the list lets a reader choose, too.
    "OneofFieldDuplicate": (OTHERS, '{"oneUint32":1,"oneString":"test"}', "the same oneof is there already at /oneString"),
    "OneofFieldDuplicate2": (OTHERS, '{"oneString":"test","oneUint32":1}', "the same oneof is there already at /oneUint32"),
    # Maps and quotes
    "Int32MapFieldKeyNotQuoted": (OTHERS, '{"int32ByInt32":{1:2,3:4}}', "at byte 17 at /int32ByInt32"),
    "Uint32MapFieldKeyNotQuoted": (OTHERS, '{"uint32ByUint32":{1:2,3:4}}', "at byte 19 at /uint32ByUint32"),
    "Int64MapFieldKeyNotQuoted": (OTHERS, '{"int64ByInt64":{1:2,3:4}}', "at byte 17 at /int64ByInt64"),
    "Uint64MapFieldKeyNotQuoted": (OTHERS, '{"uint64ByUint64":{1:2,3:4}}', "at byte 19 at /uint64ByUint64"),
    "BoolMapFieldKeyNotQuoted": (OTHERS, '{"boolByBool":{true:true,false:false}}', "at byte 15 at /boolByBool"),
    "StringFieldSingleQuoteKey": (ALL, "{'stringValue':\"Hello world!\"}", "unexpected \"'\" at byte 1"),
    "StringFieldSingleQuoteValue": (ALL, "{\"stringValue\":'Hello world!'}", "at byte 15 at /stringValue"),
    "StringFieldSingleQuoteBoth": (ALL, "{'stringValue':'Hello world!'}", "unexpected \"'\" at byte 1"),
    # Lists
    "RepeatedFieldWrongElementTypeExpectingIntegersGotBool": (ALL, '{"ints":[1,false,3,4]}', "type int32 at /ints/1"),
    "RepeatedFieldWrongElementTypeExpectingIntegersGotString": (ALL, '{"ints":[1,2,"name",4]}', "type int32 at /ints/2"),
    "RepeatedFieldWrongElementTypeExpectingIntegersGotMessage": (ALL, '{"ints":[1,2,3,{"int32Value":4}]}', "type int32 at /ints/3"),
    "RepeatedFieldWrongElementTypeExpectingStringsGotInt": (ALL, '{"texts":["1",2,"3","4"]}', "type string at /texts/1"),
    "RepeatedFieldWrongElementTypeExpectingStringsGotBool": (ALL, '{"texts":["1","2",false,"4"]}', "type string at /texts/2"),
    "RepeatedFieldWrongElementTypeExpectingStringsGotMessage": (ALL, '{"texts":["1",2,"3",{"int32Value":4}]}', "type string at /texts/1"),
    "RepeatedFieldWrongElementTypeExpectingMessagesGotInt": (ALL, '{"list":[{"int32Value":1},2]}', "at /list/1"),
    "RepeatedFieldWrongElementTypeExpectingMessagesGotBool": (ALL, '{"list":[{"int32Value":1},false]}', "at /list/1"),
    "RepeatedFieldWrongElementTypeExpectingMessagesGotString": (ALL, '{"list":[{"int32Value":1},"2"]}', "at /list/1"),
    "SingleValueForRepeatedFieldInt32": (ALL, '{"ints":1}', "at /ints"),
    "SingleValueForRepeatedFieldMessage": (ALL, '{"list":{"int32Value":1}}', "at /list"),
    "RepeatedFieldTrailingComma": (ALL, '{"ints":[1,2,3,4,]}', "at byte 17 at /ints"),
    "RepeatedFieldTrailingCommaWithSpace": (ALL, '{"ints": [1, 2, 3, 4 ,]}', "at byte 22 at /ints"),
    "RepeatedFieldTrailingCommaWithSpaceCommaSpace": (ALL, '{"ints": [1, 2, 3, 4 , ]}', "at byte 23 at /ints"),
    "RepeatedFieldTrailingCommaWithNewlines": (ALL, '{"ints": [\n  1,\n  2,\n  3,\n  4,\n]}', "at byte 31 at /ints"),
    "RepeatedFieldPrimitiveElementIsNull": (ALL, '{"ints":[1,null,2]}', "a value here at /ints/1"),
    "RepeatedFieldMessageElementIsNull": (ALL, '{"list":[{"int32Value":1},null,{"int32Value":2}]}', "a value here at /list/1"),
    "MapFieldKeyIsNull": (OTHERS, '{"int32ByInt32":{null:1}}', "at byte 17 at /int32ByInt32"),
    "MapFieldValueIsNull": (OTHERS, '{"int32ByInt32":{"0":null}}', "a value here at /int32ByInt32/0"),
    # Times
    "DurationJsonInputTooSmall": (ALL, '{"duration":"-315576000001.000000000s"}', "google.protobuf.Duration"),
    "DurationJsonInputTooLarge": (ALL, '{"duration":"315576000001.000000000s"}', "google.protobuf.Duration"),
    **{
        name: (ALL, f'{{"time":"{time}"}}', "google.protobuf.Timestamp")
        for name, time in {
            "TimestampWithMissingColonInOffset": "1970-01-01T08:00:01+0800",
            "TimestampJsonInputMonthTooLarge": "1970-13-01T00:00:00Z",
            "TimestampJsonInputMonthZero": "1970-00-01T00:00:00Z",
            "TimestampJsonInputDayTooLarge": "1970-01-32T00:00:00Z",
            "TimestampJsonInputDayZero": "1970-01-00T00:00:00Z",
            "TimestampJsonInputHourTooLarge": "1970-01-01T24:00:00Z",
            "TimestampJsonInputHourTooLarge25": "1970-01-01T25:00:00Z",
            "TimestampJsonInputMinuteTooLarge": "1970-01-01T00:60:00Z",
            "TimestampJsonInputSecondTooLarge": "1970-01-01T00:00:60Z",
            "TimestampJsonInputInvalidOffsetHour": "1970-01-01T00:00:00+24:00",
            "TimestampJsonInputInvalidOffsetMinute": "1970-01-01T00:00:00+00:60",
            "TimestampJsonInputOffsetBoundaryUnderflow": "0001-01-01T00:00:00+00:01",
            "TimestampJsonInputOffsetBoundaryOverflow": "9999-12-31T23:59:59-00:01",
            "TimestampJsonInputInvalidNanos": "1970-01-01T00:00:00.1234567890Z",
            "TimestampJsonInputInvalidCharsInNanos": "1970-01-01T00:00:00.123aZ",
            "TimestampJsonInputYearTooShort": "999-01-01T00:00:00Z",
            "TimestampJsonInputYearTooLong": "00001-01-01T00:00:00Z",
            "TimestampJsonInputMonthTooShort": "1970-1-01T00:00:00Z",
            "TimestampJsonInputDayTooShort": "1970-01-1T00:00:00Z",
            "TimestampJsonInputNonLeapFeb29": "2001-02-29T00:00:00Z",
        }.items()
    },
    # Any
    "AnyWktRepresentationWithEmptyTypeAndValue": (ALL, '{"any":{"@type":"","value":""}}', "the URL of a type at /any"),
    "AnyWktRepresentationWithBadType": (ALL, '{"any":{"@type":"not_a_url","value":""}}', "the URL of a type at /any"),
    # Names that are reserved, or of no enumeration
    **{
        f"RejectReservedFieldName.{kind}": (OTHERS, f'{{"reserved_field":{value}}}', 'no field "reserved_field"')
        for kind, value in {"Boolean": "true", "Number": "1", "String": '"hello"', "Message": '{"a":1}'}.items()
    },
    "RejectUnknownEnumStringValueInOptionalField": (ALL, '{"colour":"UNKNOWN"}', "kinds.v1.Colour at /colour"),
    "RejectUnknownEnumStringValueInRepeatedField": (ALL, '{"colours":["UNKNOWN"]}', "kinds.v1.Colour at /colours/0"),
    "RejectUnknownEnumStringValueInMapValue": (ALL, '{"coloursByName":{"key":"UNKNOWN"}}', "kinds.v1.Colour at /coloursByName/key"),
    # Two hundred in each other
    "StructDeepNesting200": (ALL, '{"structure":{' + '"n":{' * 200 + '"value":1' + "}" * 200 + "}}", DEEP),
    "ListValueDeepNesting200": (ALL, '{"value":' + "[" * 200 + "1" + "]" * 200 + "}", DEEP),
    "ValueDeepNesting200": (ALL, '{"value":{' + '"n":{' * 200 + '"value":1' + "}" * 200 + "}}", DEEP),
}  # fmt: skip


@pytest.mark.parametrize("case", REJECTED)
def test_what_is_rejected(types, case):
    name, text, words = REJECTED[case]
    assert words in types.error("encode", name, text)


# How the list calls a case: a message that JSON cannot say, in Protobuf's text format, and words that the error has.
NOT_WRITTEN = {
    "DurationProtoInputTooSmall": ("duration { seconds: -315576000001 }", "google.protobuf.Duration"),
    "DurationProtoInputTooLarge": ("duration { seconds: 315576000001 }", "google.protobuf.Duration"),
    "DurationProtoNanosWrongSign": ("duration { seconds: 1 nanos: -1 }", "google.protobuf.Duration"),
    "DurationProtoNanosWrongSignNegativeSecs": ("duration { seconds: -1 nanos: 1 }", "google.protobuf.Duration"),
    "DurationProtoNanosTooSmall": ("duration { seconds: -1 nanos: -1000000000 }", "google.protobuf.Duration"),
    "DurationProtoNanosTooLarge": ("duration { seconds: 1 nanos: 1000000000 }", "google.protobuf.Duration"),
    "TimestampProtoInputTooSmall": ("time { seconds: -62135596801 }", "google.protobuf.Timestamp"),
    "TimestampProtoInputTooLarge": ("time { seconds: 253402300800 }", "google.protobuf.Timestamp"),
    "TimestampProtoNegativeNanos": ("time { seconds: 5000 nanos: -1 }", "google.protobuf.Timestamp"),
    "TimestampProtoNanoTooLarge": ("time { seconds: 5000 nanos: 1000000000 }", "google.protobuf.Timestamp"),
    "FieldMaskPathsDontRoundTrip": ("mask { paths: 'fooBar' }", "google.protobuf.FieldMask"),
    "FieldMaskNumbersDontRoundTrip": ("mask { paths: 'foo_3_bar' }", "google.protobuf.FieldMask"),
    "FieldMaskTooManyUnderscore": ("mask { paths: 'foo__bar' }", "google.protobuf.FieldMask"),
    "ValueRejectNanNumberValue": ("value { number_value: nan }", "google.protobuf.Value"),
    "ValueRejectInfNumberValue": ("value { number_value: inf }", "google.protobuf.Value"),
}


@pytest.mark.parametrize("case", NOT_WRITTEN)
def test_what_cannot_be_written(types, classes, case):
    written, words = NOT_WRITTEN[case]
    message = text_format.Parse(written, classes[ALL](), descriptor_pool=classes.pool)
    assert words in types.error("decode", ALL, message.SerializeToString())
