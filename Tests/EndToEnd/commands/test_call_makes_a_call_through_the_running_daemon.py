"""`martlet call` makes a call through the running daemon, and prints the messages of the response as JSON."""

import json
import subprocess
import threading
from concurrent import futures

import grpc
import pytest

from support.martlet import BINARY, ENVIRONMENT
from support.schemas import all_schemas, classes
from support.wire import number, text

SERVICE = "kinds.v1.Kinds"
PROTOCOLS = ["connect", "grpc", "grpc-web"]


class Kinds:
    """A gRPC server with the service of the schemas, which knows only Protobuf."""

    def __init__(self):
        request, response = classes()["kinds.v1.Request"], classes()["kinds.v1.Response"]
        self.metadata = []
        coding = {"request_deserializer": request.FromString, "response_serializer": response.SerializeToString}

        def say(message, context):
            self.metadata.append((dict(context.invocation_metadata()), context.time_remaining()))
            if message.name == "evil":
                context.abort(grpc.StatusCode.NOT_FOUND, "\x1b[31mred\r\n")
            if message.name == "nobody":
                known = text(1, "t/kinds.v1.Request") + text(2, request(name="x").SerializeToString())
                unknown = text(1, "t/google.rpc.ErrorInfo") + text(2, b"\n\4GONE")
                status = number(1, 5) + text(2, "no such person: é".encode()) + text(3, known) + text(3, unknown)
                context.set_trailing_metadata((("grpc-status-details-bin", status), ("x-why", "left")))
                context.abort(grpc.StatusCode.NOT_FOUND, "no such person: é")
            if message.name == "slow":
                ended = threading.Event()
                context.add_callback(ended.set)
                ended.wait(20)
            context.set_trailing_metadata((("x-cost", "7"),))
            # One message, as the method has it, but for those who ask for another number.
            for _ in range({"never": 0, "twice": 2}.get(message.name, 1)):
                yield response(sentence=f"hello {message.name}")

        def watch(message, context):
            yield from (response(sentence=f"{message.name} {time}") for time in range(message.times))

        def collect(messages, context):
            return response(sentence=" ".join(message.name for message in messages))

        def talk(messages, context):
            yield from (response(sentence=f"hello {message.name}") for message in messages)

        handlers = {
            "Say": grpc.unary_stream_rpc_method_handler(say, **coding),
            "Watch": grpc.unary_stream_rpc_method_handler(watch, **coding),
            "Collect": grpc.stream_unary_rpc_method_handler(collect, **coding),
            "Talk": grpc.stream_stream_rpc_method_handler(talk, **coding),
        }
        self._server = grpc.server(futures.ThreadPoolExecutor(8))
        self._server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, handlers)])
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def stop(self):
        self._server.stop(0).wait(5)


class Result:
    """What a run of `martlet call` has come to."""

    def __init__(self, result):
        self.code = result.returncode
        self.output = result.stdout.decode()
        self.errors = result.stderr.decode()

    @property
    def sentences(self):
        return [json.loads(line)["sentence"] for line in self.output.splitlines()]


@pytest.fixture
def kinds(running):
    return running(Kinds())


@pytest.fixture
def call(martlet, kinds, tmp_path):
    """Makes a call with a daemon that translates to the server; the file of the command names the port in use."""
    types = tmp_path / "kinds.binpb"
    types.write_bytes(all_schemas())
    configuration = f"""\
listeners:
  - address: 127.0.0.1:0
  - address: unix:{tmp_path}/rpc.sock
upstreams: {{ default: {{ url: "h2c://127.0.0.1:{kinds.port}", speaks: grpc, codecs: [proto] }} }}
interceptors:
  - headers: {{ request: {{ set: {{ x-by: martlet }} }} }}
types: {{ files: [{types}] }}
"""
    proxy = martlet(configuration)
    file = tmp_path / "call.yaml"
    file.write_text(configuration.replace("127.0.0.1:0", proxy.addresses[0]))

    def run(*arguments, stdin=b"", edit=lambda text: text):
        file.write_text(edit(configuration.replace("127.0.0.1:0", proxy.addresses[0])))
        words = [BINARY, "call", "-c", file, *arguments]
        return Result(subprocess.run(words, input=stdin, capture_output=True, env=ENVIRONMENT, timeout=30))

    run.proxy, run.file, run.configuration = proxy, file, configuration
    return run


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_unary_call(call, kinds, protocol, slash):
    result = call(f"{slash}{SERVICE}/Say", "-d", '{"name": "you"}', "--protocol", protocol, "-H", "x-mine: 1")
    assert (result.code, result.output) == (0, '{"sentence":"hello you"}\n')
    assert result.errors == "trailer x-cost: 7\n"
    metadata, remaining = kinds.metadata[0]
    assert (metadata["x-mine"], metadata["x-by"]) == ("1", "martlet")
    assert 5 < remaining <= 10


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_streams(call, protocol):
    several = '{"name":"a"}\n{"name":"b"}\n'
    assert call(f"{SERVICE}/Watch", "-d", '{"name":"a","times":3}', "--protocol", protocol).sentences == ["a 0", "a 1", "a 2"]
    assert call(f"{SERVICE}/Collect", "-d", several, "--protocol", protocol).sentences == ["a b"]
    assert call(f"{SERVICE}/Talk", "-d", several, "--protocol", protocol).sentences == ["hello a", "hello b"]
    nothing = call(f"{SERVICE}/Talk", "--protocol", protocol)
    assert (nothing.code, nothing.output, nothing.errors) == (0, "", "")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_error(call, protocol):
    result = call(f"{SERVICE}/Say", "-d", '{"name":"nobody"}', "--protocol", protocol)
    assert (result.code, result.output) == (1, "")
    lines = result.errors.splitlines()
    assert lines[0] == "martlet: not_found: no such person: é"
    details = ['detail kinds.v1.Request: {"name":"x"}', 'detail google.rpc.ErrorInfo: {"reason":"GONE"}']
    assert lines[1:] == [*details, "trailer x-why: left"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_terminal_obeys_no_server(call, protocol):
    result = call(f"{SERVICE}/Say", "-d", '{"name":"evil"}', "--protocol", protocol)
    assert (result.code, result.errors) == (1, "martlet: not_found: \\u{1b}[31mred\\u{d}\\u{a}\n")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_nobody_sees_is_an_escape(call, protocol):
    name = "csi \x9b31m del \x7f bidi \u202e tag \U000e0041 é谷😀"
    result = call(f"{SERVICE}/Say", "-d", json.dumps({"name": name}), "--protocol", protocol)
    shown = r"csi \u009b31m del \u007f bidi \u202e tag \udb40\udc41 é谷😀"
    assert (result.code, result.output) == (0, f'{{"sentence":"hello {shown}"}}\n')
    assert result.sentences == [f"hello {name}"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name, count", [("never", 0), ("twice", 2)])
def test_a_unary_call_has_one_message(call, protocol, name, count):
    result = call(f"{SERVICE}/Say", "-d", json.dumps({"name": name}), "--protocol", protocol)
    assert result.code == 1
    assert f"unimplemented: the response has {count} messages, but the call is unary" in result.errors.replace("upstream default: ", "")


def test_a_response_that_is_no_json_is_an_error(call):
    def edit(text):
        return text.replace("- headers:", "- respond: { status: 200, headers: { content-type: application/json }, body: oops }\n  - headers:")

    call.proxy.reload(edit(call.configuration))
    result = call(f"{SERVICE}/Say", "-d", "{}")
    assert (result.code, result.output, result.errors) == (1, "oops\n", "martlet: the response is not JSON\n")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_time_limit(call, protocol):
    result = call(f"{SERVICE}/Say", "-d", '{"name":"slow"}', "--protocol", protocol, "--timeout", "300ms")
    assert (result.code, result.output) == (1, "")
    assert result.errors.startswith("martlet: deadline_exceeded")


def test_messages_from_files_and_standard_input(call, tmp_path):
    (tmp_path / "one.json").write_text('{\n  "name": "file"\n}\n')
    assert call(f"{SERVICE}/Say", "-d", f"@{tmp_path}/one.json").sentences == ["hello file"]
    for source in ("-", "@-"):
        assert call(f"{SERVICE}/Say", "-d", source, stdin=b'{"name":"input"}').sentences == ["hello input"]
    assert call(f"{SERVICE}/Collect", "-d", '{"name":"a"}', "-d", "-", stdin=b'{"name":"b"}\n\n{"name":"c"}').sentences == ["a b c"]
    assert call(f"{SERVICE}/Say").sentences == ["hello "]
    missing = call(f"{SERVICE}/Say", "-d", f"@{tmp_path}/none.json")
    assert (missing.code, missing.errors) == (1, f"martlet: cannot read {tmp_path}/none.json: No such file or directory\n")


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        ([f"{SERVICE}/Sya"], 2, 'kinds.v1.Kinds has no method "Sya"; did you mean "Say"?'),
        (["kinds.v1.Kind/Say"], 2, 'no service is named "kinds.v1.Kind"; did you mean kinds.v1.Kinds?'),
        (["other.v1.Shop/Get", "--protocol", "grpc"], 1, "has no types of other.v1.Shop/Get, which grpc needs"),
        ([f"{SERVICE}/Say", "-d", "{"], 2, "the message is not valid JSON"),
        ([f"{SERVICE}/Collect", "-d", "{}\n{"], 2, "message 2 is not valid JSON"),
        ([f"{SERVICE}/Say", "-d", "{}\n{}"], 2, "Say needs one message, not 2"),
        ([f"{SERVICE}/Say", "-d", '{"nam":1}', "--protocol", "grpc"], 2, 'kinds.v1.Request: no field "nam"'),
        ([f"{SERVICE}/Say", "-d", '{"nam":1}'], 1, 'invalid_argument: kinds.v1.Request: no field "nam"'),
        (["Say"], 2, '"Say" is not a method; write pkg.Service/Method'),
        ([f"{SERVICE}/Say", "--protocol", "rest"], 2, '--protocol cannot be "rest"; write connect, grpc or grpc-web'),
        ([f"{SERVICE}/Say", "--timeout", "soon"], 2, '--timeout cannot be "soon"; write a time such as 10s, or none'),
        ([f"{SERVICE}/Say", "-H", "nonsense"], 2, '"nonsense" is not a valid header'),
        ([f"{SERVICE}/Say", "-H", "content-type: a/b"], 2, "the call itself sets the header content-type"),
        ([], 2, "call needs METHOD"),
    ],
)
def test_mistakes(call, arguments, code, words):
    result = call(*arguments)
    assert (result.code, result.output) == (code, "")
    assert words in result.errors


def test_without_types_the_daemon_knows_them(call):
    def edit(text):
        return text[: text.index("types:")].replace(", codecs: [proto]", "")

    assert call(f"{SERVICE}/Say", "-d", '{"name":"you"}', edit=edit).sentences == ["hello you"]
    # Only the server knows that these are streams.
    assert call(f"{SERVICE}/Watch", "-d", '{"name":"a","times":2}', edit=edit).sentences == ["a 0", "a 1"]
    assert call(f"{SERVICE}/Collect", "-d", '{"name":"a"}\n{"name":"b"}', edit=edit).sentences == ["a b"]


def test_the_first_listener_that_is_there(call, tmp_path):
    def edit(text):
        return text.replace(call.proxy.addresses[0], "127.0.0.1:1")

    assert call(f"{SERVICE}/Say", "-d", '{"name":"unix"}', edit=edit).sentences == ["hello unix"]
    assert call(f"{SERVICE}/Say", "-d", '{"name":"unix"}', "--protocol", "grpc", edit=edit).sentences == ["hello unix"]
    nobody = call(f"{SERVICE}/Say", edit=lambda text: edit(text).replace("rpc.sock", "none.sock"))
    words = f"no daemon is listening at http://127.0.0.1:1 or unix:{tmp_path}/none.sock; is Martlet running?"
    assert (nobody.code, nobody.errors) == (1, f"martlet: {words}\n")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_listener_with_tls(call, martlet, kinds, authority, tmp_path, protocol):
    certificate = authority().issue("app.example")
    types = tmp_path / "kinds.binpb"
    text = f"""\
listeners: [{{ address: 127.0.0.1:0, tls: {{ certificate: {certificate.certificate}, key: {certificate.key} }} }}]
upstreams: {{ default: {{ url: "h2c://127.0.0.1:{kinds.port}", speaks: grpc, codecs: [proto] }} }}
types: {{ files: [{types}] }}
"""
    proxy = martlet(text)
    edit = lambda _: text.replace("127.0.0.1:0", proxy.addresses[0])
    assert call(f"{SERVICE}/Say", "-d", '{"name":"tls"}', "--protocol", protocol, edit=edit).sentences == ["hello tls"]


def test_a_configuration_that_is_wrong(call):
    result = call(f"{SERVICE}/Say", edit=lambda text: text + "nonsense: true\n")
    assert result.code == 78 and 'unknown key "nonsense"' in result.errors


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_words_are_the_message(call, protocol):
    assert call(f"{SERVICE}/Say", "name=a=b c", "--protocol", protocol).sentences == ["hello a=b c"]
    for times in ("times=2", "times:=2"):
        assert call(f"{SERVICE}/Watch", "name=a", times, "--protocol", protocol).sentences == ["a 0", "a 1"]


@pytest.mark.parametrize(
    "words, text",
    [
        (["name"], '"name" is not a field; write name=value, or name:=JSON'),
        (["=x"], '"=x" has no name; write name=value'),
        (["times:=x"], "times is not valid JSON at column 1: "),
        (["name=x", "name.of=y"], "name.of is a value and a message; write one of them"),
        (["name=x", "-d", "{}"], "-d and fields are both the message; write one of them"),
    ],
)
def test_words_that_are_no_message(call, kinds, words, text):
    result = call(f"{SERVICE}/Say", *words)
    assert result.code == 2 and text in result.errors
    assert kinds.metadata == []
