internal import Bytes
internal import HTTP
internal import Protocols
internal import Proxy

/// Writes the keys of responses, for one interceptor.
///
/// Belongs to the worker's thread; what it has written is good until it writes another.
final class CacheKey {
    let bytes = ByteQueue()
    /// The hash of the name of the target: the upstream, the host, the path and the query.
    private(set) var resource = 0
    private let template: Template?
    private let scope: Int

    /// Writes keys with the values of a template.
    ///
    /// - Parameters:
    ///   - template: what tells callers apart that are not to share.
    ///   - scope: the number of what stands behind the cache.
    init(_ template: Template?, scope: Int) {
        (self.template, self.scope) = (template?.copy, scope)
    }

    /// Whether it cannot be known which value of the template counts.
    func isAmbiguous(_ call: Call) -> Bool {
        if case .ambiguous? = template?.lack(for: call) { true } else { false }
    }

    /// Writes the key of a call.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - message: the message of its request, if it is one of RPC.
    func write(_ call: Call, _ message: [UInt8]?) {
        let request = call.request
        writeResource(call, request.target)
        bytes.append(decimal: scope)
        bytes.append(byte: 0)
        template?.renderKey(for: call, to: bytes)
        bytes.append(byte: 0)
        bytes.append(byte: call.rpcProtocol.rawValue)
        guard let message else { return }
        // Of the response, the codec and the compression depend on them.
        for name in Self.negotiated {
            bytes.append(byte: 0)
            if let index = request.first(name) { bytes.append(request.value(at: index)) }
        }
        bytes.append(byte: 0)
        bytes.append(message)
    }

    /// Writes the name of a target of the upstream of a call, which its key begins with.
    func writeResource(_ call: Call, _ target: Span<UInt8>) {
        let (received, bytes) = (call.received, bytes)
        bytes.removeAll()
        if let name = call.upstreamName { bytes.append(text: name) }
        bytes.append(byte: 0)
        bytes.append(received.authority)
        bytes.append(byte: 0)
        bytes.append(target)
        resource = bytes.readable.seededHash
        bytes.append(byte: 0)
    }

    /// Whether a key is of a target that begins like this.
    static func isOf(target prefix: [UInt8], _ key: [UInt8]) -> Bool {
        let key = key.span
        guard let name = key.firstIndex(of: 0), let host = key.firstIndex(of: 0, from: name + 1) else { return false }
        return key.extracting(host + 1..<key.count).hasPrefix(prefix)
    }

    private static let negotiated = ["content-type", "grpc-accept-encoding", "accept-encoding"].map(FieldName.init)
}
