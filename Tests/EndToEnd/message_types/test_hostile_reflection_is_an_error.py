"""Whatever an upstream says by reflection, Martlet reads a bounded amount of it, and goes on serving."""

import threading

import pytest
from google.protobuf import descriptor_pb2
from support.servers.reflecting_service import Response, ReflectingService

MIB = 1 << 20


def services(*names):
    response = Response()
    for name in names:
        response.list_services_response.service.add(name=name)
    return response


def files(*several):
    response = Response()
    response.file_descriptor_response.file_descriptor_proto.extend(file.SerializeToString() for file in several)
    return response


def file(name, *imports, service=None):
    new = descriptor_pb2.FileDescriptorProto(name=name, package="x", dependency=imports, syntax="proto3")
    if service:
        new.message_type.add(name="M")
        new.service.add(name=service).method.add(name="Do", input_type=".x.M", output_type=".x.M")
    return new


def garbage(requests, context):
    for _ in requests:
        yield b"\xff" * 100


def endless_files(requests, context):
    for number, request in enumerate(requests):
        first = request.HasField("list_services")
        yield services("x.S") if first else files(file(f"f{number}", f"f{number + 1}", service="S" if number == 1 else None))


def cycle(requests, context):
    for request in requests:
        if request.HasField("list_services"):
            yield services("x.S")
        else:
            yield files(file("a", "b", service="S"), file("b", "a"))


def large(requests, context):
    for request in requests:
        if request.HasField("list_services"):
            yield services("x.S")
        else:
            big = [file(f"f{number}", service="S" if not number else None) for number in range(3)]
            for one in big:
                one.options.java_package = "j" * (6 * MIB)
            yield files(*big)


def many_definitions(requests, context):
    for request in requests:
        if request.HasField("list_services"):
            yield services("x.S")
        else:
            many = file("a", service="S")
            for number in range(200_000):
                many.message_type.add(name=f"M{number}")
            yield files(many)


def wrong_types(requests, context):
    for request in requests:
        if request.HasField("list_services"):
            yield services("x.S")
        else:
            bad = file("a", service="S")
            bad.service[0].method[0].input_type = ".x.Nowhere"
            yield files(bad)


def many_services(requests, context):
    for _ in requests:
        yield services(*(f"x.S{number}" for number in range(10_001)))


def unasked(requests, context):
    next(requests)
    while True:
        yield services("grpc.reflection.v1.ServerReflection", "x.S")


def empty(requests, context):
    for _ in requests:
        yield services("grpc.reflection.v1.ServerReflection")


def early(requests, context):
    yield services("x.S")


def silent(requests, context):
    ended = threading.Event()
    context.add_callback(ended.set)
    ended.wait(60)
    yield from ()


CASES = {
    "garbage": (garbage, "a reflection response is not valid Protobuf"),
    "endless files": (endless_files, "its reflection returns more than 2000 files"),
    "cycle": (cycle, "the types of its reflection are not valid: b imports a, which imports it in turn"),
    "large": (large, "its reflection returns more than 16 MiB"),
    "many definitions": (many_definitions, "its reflection returns more than 200000 definitions"),
    "wrong types": (wrong_types, "the types of its reflection are not valid: a: "),
    "many services": (many_services, "its reflection lists more than 10000 services"),
    "unasked": (unasked, "a reflection response does not match its request"),
    "empty": (empty, "its reflection lists no services"),
    "early": (early, "the reflection call ended before the last response"),
    "silent": (silent, "reflection took longer than 10 s"),
}


@pytest.mark.waits
@pytest.mark.parametrize("name", CASES)
def test_a_hostile_upstream_is_an_error(martlet, running, name):
    reflect, words = CASES[name]
    upstream = running(ReflectingService("id", reflect=reflect))
    proxy = martlet(f"""
        listen: 127.0.0.1:0
        upstreams: {{ orders: {{ url: "{upstream.url}", speaks: grpc, codecs: [proto] }} }}
        types: {{ reflection: orders }}
        """)
    before = proxy.rss()
    line = proxy.stderr.wait(r"types not known yet upstream=orders reason=.*", within=15)
    assert words in line[0]
    assert proxy.admin("/healthz").status_code == 200 and words in proxy.admin("/readyz").text
    with proxy.http() as client:
        response = client.post("/shop.v1.OrderService/Get", json={})
    assert response.json() == {"code": "unavailable", "message": "the types of orders are not known yet"}
    assert proxy.rss() - before < 100 * MIB
