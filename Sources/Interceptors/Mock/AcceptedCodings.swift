internal import Bytes

/// The content codings that a caller accepts, as `accept-encoding` says (RFC 9110 §12.5.3).
struct AcceptedCodings {
    private var weights: [(coding: [UInt8], isAccepted: Bool)] = []
    /// Whether the caller has sent the header: without it, all codings are acceptable.
    private let isGiven: Bool

    /// Reads the values of the header, joined by commas, or `nil` if the caller has sent none.
    init(_ value: [UInt8]?) {
        isGiven = value != nil
        for item in (value ?? []).split(separator: UInt8(ascii: ",")) {
            let parts = item.split(separator: UInt8(ascii: ";")).map(Self.trimmed)
            guard let coding = parts.first, !coding.isEmpty else { continue }
            let isRejected = parts.dropFirst().contains { Self.isZero($0) }
            weights.append((Self.name(coding), !isRejected))
        }
    }

    /// Whether a body with this value of `content-encoding` is acceptable: all of its codings have to be.
    func accepts(_ contentEncoding: [UInt8]) -> Bool {
        guard isGiven else { return true }
        return contentEncoding.split(separator: UInt8(ascii: ",")).allSatisfy { accepts(coding: Self.trimmed($0)) }
    }

    private func accepts(coding: [UInt8]) -> Bool {
        let name = Self.name(coding)
        if let known = weights.first(where: { $0.coding == name }) { return known.isAccepted }
        if let other = weights.first(where: { $0.coding == [UInt8(ascii: "*")] }) { return other.isAccepted }
        return name.isEmpty || name == Array("identity".utf8)
    }

    /// The name in lower case.
    ///
    /// `x-gzip` and `x-compress` are old names (RFC 9110 §8.4.1).
    private static func name(_ coding: [UInt8]) -> [UInt8] {
        let name = coding.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
        return name == Array("x-gzip".utf8) || name == Array("x-compress".utf8) ? Array(name.dropFirst(2)) : name
    }

    /// Whether a parameter is `q=0`, with up to three zeros behind a point.
    private static func isZero(_ parameter: [UInt8]) -> Bool {
        guard parameter.starts(with: "q=0".utf8) || parameter.starts(with: "Q=0".utf8) else { return false }
        return parameter.dropFirst(3).allSatisfy { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "0") }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let start = bytes.drop(while: isSpace)
        return Array(start.reversed().drop(while: isSpace).reversed())
    }
}
