internal import Bytes

/// What a FileDescriptorProto says of itself, read without linking it: its name, its imports and its services.
///
/// Pure, and for bytes of any origin.
package struct DescriptorFile: Equatable, Sendable {
    /// How many imports a file may have, and how many services.
    private static let maxNames = 10_000

    /// The name, as `shop/v1/shop.proto`.
    package let name: String
    /// The names of the files that it imports.
    package let imports: [String]
    /// The full names of its services.
    package let services: [String]
    /// All of it.
    package let bytes: [UInt8]

    /// Reads a file.
    ///
    /// - Returns: none for bytes that are not in the wire format, name no file, or name too much.
    package init?(_ bytes: [UInt8]) {
        self.init(in: bytes.span, 0..<bytes.count, bytes)
    }

    /// Reads the file that lies at `range` in `span`; `bytes` is what is kept of it.
    private init?(in span: Span<UInt8>, _ range: Range<Int>, _ bytes: [UInt8]) {
        var (name, package, imports, services) = ("", "", [String](), [String]())
        var fields = WireFields(range)
        do throws(WireFields.Malformed) {
            while let field = try fields.next(in: span) {
                guard case .bytes(let place) = field.value else { continue }
                switch field.number {
                case 1: name = span.extracting(place).string
                case 2: package = span.extracting(place).string
                case 3: imports.append(span.extracting(place).string)
                case 6: services.append(try Self.firstText(in: span, place))
                default: break
                }
                // What a few bytes say costs many in memory.
                guard imports.count <= Self.maxNames, services.count <= Self.maxNames else { return nil }
            }
        } catch {
            return nil
        }
        guard !name.isEmpty else { return nil }
        self.name = name
        self.imports = imports
        self.services = services.map { package.isEmpty ? $0 : "\(package).\($0)" }
        self.bytes = bytes
    }

    /// The last field with the number 1 of a message, as text: it is the name in all that have one.
    static func firstText(in bytes: Span<UInt8>, _ range: Range<Int>) throws(WireFields.Malformed) -> String {
        var text = ""
        var fields = WireFields(range)
        while let field = try fields.next(in: bytes) {
            if field.number == 1, case .bytes(let place) = field.value { text = bytes.extracting(place).string }
        }
        return text
    }

    /// The files of a descriptor set, without their bytes; those that cannot be read are left out.
    package static func files(of set: DescriptorSet) -> [DescriptorFile] {
        let span = set.bytes.span
        var fields = WireFields(0..<span.count)
        var files: [DescriptorFile] = []
        while let field = try? fields.next(in: span) {
            guard field.number == 1, case .bytes(let place) = field.value else { continue }
            if let file = DescriptorFile(in: span, place, []) { files.append(file) }
        }
        return files
    }
}

extension DescriptorSet {
    /// Makes a set of files that were not read from the disk.
    package init(source: String, files: [DescriptorFile]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(files.reduce(0) { $0 + $1.bytes.count + 6 })
        for file in files { bytes.append(field: 1, file.bytes) }
        self.init(source: source, bytes: bytes, isFile: false)
    }
}
