internal import Bytes

/// Where the names of the service and the method lie in a path `/[prefix/]pkg.Service/Method`.
public struct Procedure: Equatable, Sendable {
    /// The place of the service's full name in the path.
    public let service: Range<Int>
    /// The place of the method's name in the path.
    public let method: Range<Int>
    /// Whether the service has a package, which hardly a path that is no RPC looks like.
    public let isQualified: Bool

    /// Reads `path`, which has no query; none if its last two segments are not names.
    public init?(path: Span<UInt8>) {
        var index = path.count
        guard let method = Self.name(in: path, endingAt: &index), index > 0 else { return nil }
        index -= 1
        var dots = 0
        guard path[index] == UInt8(ascii: "/"), var service = Self.name(in: path, endingAt: &index) else { return nil }
        while index > 0, path[index - 1] == UInt8(ascii: ".") {
            index -= 1
            dots += 1
            guard let part = Self.name(in: path, endingAt: &index) else { return nil }
            service = part.lowerBound..<service.upperBound
        }
        guard index > 0, path[index - 1] == UInt8(ascii: "/") else { return nil }
        self.service = service
        self.method = method
        isQualified = dots > 0
    }

    /// Reads the path of a call: in plain HTTP hardly anything without a package is a procedure.
    public init?(path: Span<UInt8>, in rpcProtocol: RPCProtocol) {
        self.init(path: path)
        guard rpcProtocol != .http || isQualified else { return nil }
    }

    /// The Protobuf identifier that ends before `index`, which is moved to its start.
    private static func name(in path: Span<UInt8>, endingAt index: inout Int) -> Range<Int>? {
        let end = index
        var start = end
        while start > 0, isNameCharacter(path[start - 1]) { start -= 1 }
        guard start < end, path[start] > UInt8(ascii: "9") else { return nil }
        index = start
        return start..<end
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "_")
    }
}
