internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry

/// What the spans of a call are called (semantic conventions for RPC and HTTP spans).
extension Call {
    /// The name of the spans, and the attributes that say the same in parts.
    ///
    /// It is `pkg.Service/Method`, or the method of plain HTTP. A method that no upstream has shown to exist is `_OTHER`, as in
    /// the metrics, and its spans are called after the system: callers invent no names of spans.
    var spanName: (name: [UInt8], attributes: [SpanRecord.Attribute]) {
        guard rpcProcedure != nil else {
            let received = received
            let method = received.method.array
            let path = received.path.array
            let shown = Array((MaskedText.masked(path, .url) ?? path).prefix(Self.maxText))
            return (
                method,
                [
                    SpanRecord.Attribute("http.request.method", .text(method)),
                    SpanRecord.Attribute("url.path", .text(shown)),
                ]
            )
        }
        let system = upstreamLeg.rpcProtocol.family == .connect ? "connectrpc" : "grpc"
        let (known, called) = (knownMethod, calledMethod)
        var attributes = [
            SpanRecord.Attribute("rpc.system.name", system),
            SpanRecord.Attribute("rpc.method", .text(known ?? Array(MethodName.other.method.utf8))),
        ]
        if known != called { attributes.append(SpanRecord.Attribute("rpc.method_original", .text(called))) }
        return (known ?? Array(system.utf8), attributes)
    }

    /// The method under the name that the metrics have for it; none if that is `_OTHER`.
    private var knownMethod: [UInt8]? {
        let request = request
        guard worker.counters.knowsMethod(request.path) else { return nil }
        return Self.method(request.path)
    }

    /// The method under the name that the caller has called it by.
    private var calledMethod: [UInt8] {
        let (request, received) = (request, received)
        let path = callerLeg.rest == nil ? received.path : request.path
        return Array((Self.method(path) ?? Array(path.array.dropFirst())).prefix(Self.maxText))
    }

    private static func method(_ path: Span<UInt8>) -> [UInt8]? {
        guard let procedure = Procedure(path: path) else { return nil }
        return path.extracting(procedure.service).array + [UInt8(ascii: "/")]
            + path.extracting(procedure.method).array
    }
}
