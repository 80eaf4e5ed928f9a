/// A FileDescriptorSet in the wire format, as `protoc --descriptor_set_out` and `buf build` write it.
public struct DescriptorSet: Sendable {
    /// Where it comes from, which errors name.
    public let source: String
    /// Its bytes.
    public let bytes: [UInt8]
    /// Whether a file holds it, which somebody can make again.
    let isFile: Bool

    /// Makes one of what a file holds.
    public init(source: String, bytes: [UInt8]) {
        self.init(source: source, bytes: bytes, isFile: true)
    }

    init(source: String, bytes: [UInt8], isFile: Bool) {
        self.source = source
        self.bytes = bytes
        self.isFile = isFile
    }
}
