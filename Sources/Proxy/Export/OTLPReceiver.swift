internal import Bytes
internal import Compressors
internal import RPC
internal import Telemetry
internal import Time

/// Where the requests of a signal go, and what they look like.
struct OTLPReceiver: Sendable {
    let server: FetchServer
    let target: [UInt8]
    let headers: [FetchRequest.Field]
    let isJSON: Bool
    let compresses: Bool
    let timeout: Duration?
    let resource: TelemetryResource

    /// The request with a body, which is compressed if that is wanted.
    func request(_ body: [UInt8]) -> FetchRequest {
        let type = isJSON ? "application/json" : "application/x-protobuf"
        var fields = headers
        fields.append(FetchRequest.Field("content-type", Array(type.utf8)))
        fields.append(FetchRequest.Field("user-agent", Array("martlet-otlp/\(resource.version)".utf8)))
        guard compresses else {
            return FetchRequest(method: "POST", target: target, fields: fields, body: .bytes(body))
        }
        let compressed = ByteQueue()
        Compressor().compress(body.span, as: .gzip, into: compressed)
        fields.append(FetchRequest.Field("content-encoding", Array("gzip".utf8)))
        let content = compressed.readable.array
        return FetchRequest(method: "POST", target: target, fields: fields, body: .bytes(content))
    }
}
