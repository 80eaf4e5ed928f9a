internal import Bytes
internal import RPC

/// The content codings that a caller accepts, as `accept-encoding` says (RFC 9110 §12.5.3).
struct AcceptedCodings {
    private var weights: [(coding: [UInt8], isAccepted: Bool)] = []
    /// Whether the caller has sent the header: without it, all codings are acceptable.
    private let isGiven: Bool

    /// Reads the values of the header, joined by commas, or `nil` if the caller has sent none.
    init(_ value: [UInt8]?) {
        isGiven = value != nil
        let field = value ?? []
        var position = 0
        while let item = CompressionItem(in: field.span, at: &position) {
            weights.append((Self.name(field[item.name]), !item.isExcluded))
        }
    }

    /// Whether a body with this value of `content-encoding` is acceptable: all of its codings have to be.
    func accepts(_ contentEncoding: [UInt8]) -> Bool {
        guard isGiven else { return true }
        var position = 0
        while let item = CompressionItem(in: contentEncoding.span, at: &position) {
            guard accepts(name: Self.name(contentEncoding[item.name])) else { return false }
        }
        return true
    }

    private func accepts(name: [UInt8]) -> Bool {
        if let known = weights.first(where: { $0.coding == name }) { return known.isAccepted }
        if let other = weights.first(where: { $0.coding == [UInt8(ascii: "*")] }) { return other.isAccepted }
        return name == Array("identity".utf8)
    }

    /// The name in lower case.
    ///
    /// `x-gzip` and `x-compress` are old names (RFC 9110 §8.4.1).
    private static func name(_ coding: ArraySlice<UInt8>) -> [UInt8] {
        let name = coding.map(\.lowercasedASCII)
        return name == Array("x-gzip".utf8) || name == Array("x-compress".utf8) ? Array(name.dropFirst(2)) : name
    }
}
