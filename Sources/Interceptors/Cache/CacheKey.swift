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
    private let around: CacheSurroundings
    private let scopes: CacheScopes
    /// The numbers of what stands around the cache, for calls to each upstream, and for those that have none.
    private var numbers: [ObjectIdentifier?: (upstream: Upstream?, number: Int)] = [:]

    /// Writes keys with the values of a template.
    ///
    /// - Parameters:
    ///   - template: what tells callers apart that are not to share.
    ///   - around: what stands around the cache.
    ///   - scopes: the numbers of what stands around caches.
    init(_ template: Template?, within around: CacheSurroundings, _ scopes: CacheScopes) {
        (self.template, self.around, self.scopes) = (template?.copy, around, scopes)
    }

    private func scope(of call: Call) -> Int {
        let upstream = call.upstream
        let identity = upstream.map(ObjectIdentifier.init)
        if let known = numbers[identity] { return known.number }
        let number = scopes.number(of: around, upstream?.settings)
        numbers[identity] = (upstream, number)
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
        writeResource(call, host: request.authority, request.target)
        bytes.append(decimal: scope(of: call))
        bytes.append(byte: 0)
        template?.renderKey(for: call, to: bytes)
        bytes.append(byte: 0)
        bytes.append(byte: call.rpcProtocol.rawValue)
        guard let message else { return }
        // Of the response, the codec and the compression depend on them.
        for name in Self.negotiated {
            bytes.append(byte: 0)
            var index = request.first(name)
            while let found = index {
                bytes.append(request.value(at: found))
                bytes.append(byte: UInt8(ascii: ","))
                index = request.first(name, from: found + 1)
            }
        }
        bytes.append(byte: 0)
        // No message can be taken for what follows it in other keys.
        bytes.append(decimal: message.count)
        bytes.append(byte: 0)
        bytes.append(message)
    }

    /// Writes the name of a target of the upstream of a call, which its key begins with.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - host: the host that its request names at the cache.
    ///   - target: the path and the query.
    func writeResource(_ call: Call, host: Span<UInt8>, _ target: Span<UInt8>) {
        let (received, bytes) = (call.received, bytes)
        bytes.removeAll()
        if let name = call.upstreamName { bytes.append(text: name) }
        bytes.append(byte: 0)
        append(host: received.authority)
        bytes.append(byte: 0)
        append(host: host)
        bytes.append(byte: 0)
        let pathEnd = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        bytes.append(normalPath: target.extracting(0..<pathEnd))
        bytes.append(target.extracting(pathEnd..<target.count))
        resource = bytes.readable.seededHash
        bytes.append(byte: 0)
    }

    private func append(host: Span<UInt8>) {
        for index in host.indices { bytes.append(byte: host[index].lowercasedASCII) }
    }

    /// Whether a key is of a target whose normal form begins like this.
    static func isOf(target prefix: [UInt8], _ key: [UInt8]) -> Bool {
        let key = key.span
        guard let name = key.firstIndex(of: 0), let host = key.firstIndex(of: 0, from: name + 1),
            let upstreamHost = key.firstIndex(of: 0, from: host + 1)
        else { return false }
        return key.extracting(upstreamHost + 1..<key.count).hasPrefix(prefix)
    }

    private static let negotiated = ["content-type", "grpc-accept-encoding", "accept-encoding"].map(FieldName.init)
}
