"""A receiver of OTLP over HTTP, which keeps the spans and metrics that come."""

import base64
import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest, ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse


def value(any_value):
    return getattr(any_value, any_value.WhichOneof("value"))


def found(tree, key):
    """All items of the lists that have a name, wherever they stand."""
    for name, inner in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        if name == key:
            yield from inner
        yield from found(inner, key)


class ReceivedSpan:
    """One span, with ids as they are written."""

    def __init__(self, span):
        self.trace, self.id, self.parent = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
        self.name, self.kind, self.state, self.flags = span.name, span.kind, span.trace_state, span.flags
        self.start, self.end = span.start_time_unix_nano, span.end_time_unix_nano
        self.attributes = {pair.key: value(pair.value) for pair in span.attributes}
        self.events = [(event.name, {pair.key: value(pair.value) for pair in event.attributes}) for event in span.events]
        self.is_error, self.message = span.status.code == 2, span.status.message


class OTLPReceiver:
    """Listens on loopback; `script` has the statuses of the next responses, after which all are 200."""

    def __init__(self):
        receiver = self
        self.spans, self.bodies, self.headers, self.resource = [], [], [], {}
        # Each request with metrics: its metrics by their names.
        self.snapshots = []
        self.script = []
        self.retry_after = "1"
        self.requests = self.rejects = 0
        # The bytes that follow each response that is a success.
        self.padding = b""
        self.gate = threading.Event()
        self.gate.set()

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.requests += 1
                receiver.headers.append(dict(self.headers) | {"path": self.path})
                receiver.gate.wait(20)
                status = receiver.script.pop(0) if receiver.script else 200
                receive = receiver.receive_metrics if "metrics" in self.path else receiver.receive
                content = receive(body, self.headers) + receiver.padding if status == 200 else b""
                self.send_response(status)
                if status == 503:
                    self.send_header("retry-after", receiver.retry_after)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def body(self, body, headers):
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.bodies.append(body)
        return body

    def receive_metrics(self, body, headers):
        body = self.body(body, headers)
        if headers["content-type"] == "application/json":
            # What the JSON of OTLP has in other words than that of Protobuf: hexadecimal IDs.
            message = json.loads(body)
            for exemplar in found(message, "exemplars"):
                for key in ("traceId", "spanId"):
                    exemplar[key] = base64.b64encode(bytes.fromhex(exemplar[key])).decode()
            message = json_format.ParseDict(message, ExportMetricsServiceRequest())
        else:
            message = ExportMetricsServiceRequest.FromString(body)
        (resource,) = message.resource_metrics
        (scope,) = resource.scope_metrics
        assert scope.scope.name == "martlet" and scope.scope.version
        self.resource = {pair.key: value(pair.value) for pair in resource.resource.attributes}
        names = [metric.name for metric in scope.metrics]
        assert len(set(names)) == len(names), names
        self.snapshots.append({metric.name: metric for metric in scope.metrics})
        response = ExportMetricsServiceResponse()
        if self.rejects:
            response.partial_success.rejected_data_points = self.rejects
            response.partial_success.error_message = "too many"
        if headers["content-type"] == "application/json":
            return json_format.MessageToJson(response).encode()
        return response.SerializeToString()

    def receive(self, body, headers):
        body = self.body(body, headers)
        if headers["content-type"] == "application/json":
            self.spans += [span for resource in json.loads(body)["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]]
            return b"{}"
        message = ExportTraceServiceRequest.FromString(body)
        for resource in message.resource_spans:
            self.resource = {pair.key: value(pair.value) for pair in resource.resource.attributes}
            for scope in resource.scope_spans:
                assert scope.scope.name == "martlet" and scope.scope.version
                self.spans += [ReceivedSpan(span) for span in scope.spans]
        response = ExportTraceServiceResponse()
        if self.rejects:
            response.partial_success.rejected_spans = self.rejects
        return response.SerializeToString()

    def stop(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()
