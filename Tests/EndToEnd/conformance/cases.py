"""The cases of the suites basic, errors, duplicate_metadata and connect_with_get, as products of a few tables."""

from dataclasses import dataclass

from google.protobuf import duration_pb2

from conformance.callers import CALLERS
from conformance.service import CODES, Definition, Request, text
from conformance.upstreams import UPSTREAMS

PAIRS = [(caller, upstream) for caller in CALLERS for upstream in UPSTREAMS]


def name_of(pair):
    return "-to-".join(pair)


def version(caller):
    """The HTTP version of a caller."""
    return 2 if caller == "grpc" else CALLERS[caller][1]


# Pairs whose messages can go both ways at the same time, which needs HTTP/2 on both sides.
DUPLEX = [pair for pair in PAIRS if version(pair[0]) == UPSTREAMS[pair[1]].http == 2]

DATA = b"test response \0\xff"
# Names with the values of fields, for headers and for trailers of a response; those of a request are like the headers.
METADATA = {
    "plain": ([], []),
    "fields": ([("x-head", ["foo"])], [("x-tail", ["bing"])]),
    "duplicates": ([("x-head", ["foo", "bar", "baz"]), ("x-other", ["foo"])], [("x-tail", ["bing", "quux", "bing"])]),
    "binary": ([("x-head-bin", [text(b"\0\xff~?"), text(b"four")])], [("x-tail-bin", [text(b"\xfb\xff\xfe"), text(b"\0")])]),
}
REQUEST_FIELDS = {
    "fields": [("x-conformance", ["Value1"])],
    "duplicates": [("x-conformance", ["Value1", "Value2", "Value1"])],
    "binary": [("x-conformance-bin", [text(b"\0\xff~?")])],
}
DURATION = ("google.protobuf.Duration", duration_pb2.Duration(seconds=60).SerializeToString())
DETAILS = {
    "none": [],
    "several": [DURATION, ("google.protobuf.Empty", b""), DURATION],
    "unknown": [("nobody.knows.v1.It", b"\0\xff\x01")],
}
TEXTS = {
    "unicode": "\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\n",
    "percent": "100% of %41 and %zz are %",
    "quotes": 'a "quoted" \\ backslash, and\ta tab: 1',
    "none": "",
    "long": "a long text, ☺" * 100,
}


@dataclass(frozen=True)
class Case:
    """A call: the definition of its responses, the data of its further requests, and the fields of its request."""

    name: str
    method: str
    definition: Definition
    more: tuple = ()
    fields: tuple = ()

    @property
    def requests(self):
        return [Request(definition=self.definition), *(Request(data=each) for each in self.more)]


def defined(metadata="plain", data=(), failure=None, **options):
    headers, trailers = METADATA[metadata]
    result = Definition(data=data, **options)
    for own, given in ((result.headers, headers), (result.trailers, trailers)):
        for name, values in given:
            own.add(name=name, values=values)
    if failure:
        code, message, details = failure
        result.failure.code, result.failure.text = CODES.index(code), message
        for kind, value in details:
            result.failure.details.add(type=kind, value=value)
    return result


def fields_of(metadata):
    return tuple((name, value) for name, values in REQUEST_FIELDS.get(metadata, []) for value in values)


FAILURE = ("internal", "it failed", DETAILS["several"])
# How responses go: their data, and whether an error ends them.
SINGLE = {"success": ([DATA], None), "empty": ([], None), "error": ([], FAILURE)}
STREAM = {"success": ([DATA, b"", DATA], None), "no-responses": ([], None), "error": ([], FAILURE), "late-error": ([DATA, DATA], FAILURE)}
# The method of a kind of call, its further requests, and how its responses go.
KINDS = {
    "unary": ("Unary", (), SINGLE),
    "get": ("Idempotent", (), SINGLE),
    "client-stream": ("ClientStream", (DATA, b"", DATA), SINGLE),
    "client-stream-of-one": ("ClientStream", (), SINGLE),
    "server-stream": ("ServerStream", (), STREAM),
    "half-duplex": ("BidiStream", (DATA, DATA), STREAM),
    "full-duplex": ("BidiStream", (DATA, DATA), STREAM),
}


def cases(kind):
    """The cases of a kind of call."""
    method, more, ways = KINDS[kind]
    for way, (data, failure) in ways.items():
        for metadata in METADATA:
            definition = defined(metadata, data, failure, full_duplex=kind == "full-duplex")
            count = more if kind != "full-duplex" else more[: max(0, len(data) - 1)]
            yield Case(f"{way}, {metadata}", method, definition, count, fields_of(metadata))


def errors(method):
    """Cases that end with an error before any message: every code, every kind of text, and details of every kind."""
    every = [(code, code.replace("_", " "), []) for code in CODES[1:]]
    every += [("internal", text, DETAILS["several"]) for text in TEXTS.values()]
    every += [("not_found", "with details", details) for details in DETAILS.values()]
    for code, text, details in every:
        yield Case(f"{code}, {text!r}", method, defined("fields", [], (code, text, details)))


def runs(kind, pair):
    """GET is Connect's alone, and full duplex needs HTTP/2."""
    return {"full-duplex": pair in DUPLEX, "get": pair[0].startswith("connect")}.get(kind, True)
