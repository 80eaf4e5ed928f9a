internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import Proxy

/// Writes the keys of responses, for one interceptor.
///
/// Belongs to the worker's thread; what it has written is good until it writes another.
final class CacheKey {
    let bytes = ByteQueue(keeping: 1024)
    /// The hash of the name of the target: the upstream, the host, the path and the query.
    private(set) var resource = 0
    private let template: Template?
    private let following: [ChainItem]
    private let scopes: CacheScopes
    /// The number of what stands behind the cache, for calls to one upstream.
    private var scope: (upstream: Upstream?, number: Int)?

    /// Writes keys with the values of a template.
    ///
    /// - Parameters:
    ///   - template: what tells callers apart that are not to share.
    ///   - following: the items of the chain behind the cache.
    ///   - scopes: the numbers of what stands behind caches.
    init(_ template: Template?, before following: [ChainItem], _ scopes: CacheScopes) {
        (self.template, self.following, self.scopes) = (template?.copy, following, scopes)
    }

    private func scope(of call: Call) -> Int {
        let upstream = call.upstream
        if let scope, scope.upstream === upstream { return scope.number }
        let number = scopes.number(of: following, upstream?.settings.url)
        scope = (upstream, number)
        return number
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
        bytes.append(decimal: scope(of: call))
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
