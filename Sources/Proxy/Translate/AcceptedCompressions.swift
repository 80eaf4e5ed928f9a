internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import RPC

extension ListedCompressions {
    /// Reads the compressions of a response that the caller of a request reads.
    ///
    /// A caller that lists none reads the compression of its own request (Connect protocol, "Compression").
    init(in head: HTTPHead, _ rpcProtocol: RPCProtocol) {
        self.init()
        guard var next = head.first(rpcProtocol.acceptField) else {
            if rpcProtocol == .connectGet {
                let query = head.query
                if let name = ConnectQuery(query)?.compression.name { add(field: Array("\(name)".utf8).span) }
            } else if let index = head.first(rpcProtocol.encodingField) {
                add(field: head.value(at: index))
            }
            return
        }
        while next < head.count {
            add(field: head.value(at: next))
            next = head.first(rpcProtocol.acceptField, from: next + 1) ?? head.count
        }
    }
}

/// The compressions that an upstream understands.
struct AcceptedCompressions: Sendable {
    /// A bit for each, by its raw value.
    private let bits: UInt8

    /// Those that the settings name; every upstream understands what is not compressed.
    init(_ settings: [UpstreamSettings.WireCompression]) {
        bits = settings.reduce(1 << Compression.identity.rawValue) { bits, setting in
            let name = Array(setting.rawValue.utf8)
            return bits | 1 << Compression(name: name.span).rawValue
        }
    }

    /// Whether messages of this compression are understood.
    func contains(_ compression: Compression) -> Bool { bits & 1 << compression.rawValue != 0 }

    /// Whether a field lists a compression that is not understood.
    private func lacksSome(of field: Span<UInt8>) -> Bool {
        var position = 0
        while let item = CompressionItem(in: field, at: &position) {
            if !contains(Compression(name: field.extracting(item.name))) { return true }
        }
        return false
    }

    /// Whether a request says that compressions are fine for a response that are not understood.
    func exceeded(by head: HTTPHead, _ rpcProtocol: RPCProtocol) -> Bool {
        var index = head.first(rpcProtocol.acceptField)
        while let found = index {
            if lacksSome(of: head.value(at: found)) { return true }
            index = head.first(rpcProtocol.acceptField, from: found + 1)
        }
        return false
    }

    /// Makes a request list only compressions that are understood, in the order of its sender.
    func narrow(_ head: HTTPHead, _ rpcProtocol: RPCProtocol) {
        let names = ByteQueue()
        for index in 0..<head.count where head.known(at: index) == rpcProtocol.acceptField {
            append(understoodOf: head.value(at: index), to: names)
        }
        if names.isEmpty { names.append("identity") }
        head.set(rpcProtocol.acceptField, names.readable)
    }

    private func append(understoodOf field: Span<UInt8>, to names: ByteQueue) {
        var position = 0
        while let item = CompressionItem(in: field, at: &position) {
            let isAny = field.extracting(item.name).equals("*")
            if isAny {
                for compression in Compression.allCases where contains(compression) {
                    guard let name = compression.name else { continue }
                    if !names.isEmpty { names.append(", ") }
                    names.append(name)
                    // With the weight that it has for the sender.
                    names.append(field.extracting(item.name.upperBound..<item.range.upperBound))
                }
            } else if contains(Compression(name: field.extracting(item.name))) {
                if !names.isEmpty { names.append(", ") }
                names.append(field.extracting(item.range))
            }
        }
    }
}
