internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import RPC

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

/// An item of a list of compressions: a name, and maybe a weight behind it (RFC 9110 §12.5.3).
private struct CompressionItem {
    /// Where in the field the item is, without the space around it.
    let range: Range<Int>
    /// Where in the field its name is.
    let name: Range<Int>

    /// Reads the next item that is not empty.
    init?(in field: Span<UInt8>, at position: inout Int) {
        while position < field.count {
            let comma = field.extracting(position...).firstIndex(of: UInt8(ascii: ","))
            var (start, end) = (position, comma.map { position + $0 } ?? field.count)
            position = end + 1
            while start < end, Self.isSpace(field[start]) { start += 1 }
            while end > start, Self.isSpace(field[end - 1]) { end -= 1 }
            guard start < end else { continue }
            var nameEnd = field.extracting(start..<end).firstIndex(of: UInt8(ascii: ";")).map { start + $0 } ?? end
            while nameEnd > start, Self.isSpace(field[nameEnd - 1]) { nameEnd -= 1 }
            (range, name) = (start..<end, start..<nameEnd)
            return
        }
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
