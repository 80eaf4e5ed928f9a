import CNghttp2

/// Writes and reads the fields of heads (RFC 7541).
package enum HPACK {
    /// A field as it is, neither compressed nor kept in the table.
    package static func literal(_ name: String, _ value: String) -> [UInt8] {
        [0] + string(name) + string(value)
    }

    /// A field that goes into the table, where it is the first that `indexed` finds.
    package static func kept(_ name: String, _ value: String) -> [UInt8] {
        [0x40] + string(name) + string(value)
    }

    /// The field at a place of the table; the 62nd is the one that went into it last.
    package static func indexed(_ index: Int) -> [UInt8] {
        [0x80 | UInt8(index)]
    }

    /// A string as it is.
    package static func string(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return length(bytes.count) + bytes
    }

    /// The length of a string, without Huffman coding unless `flag` is 0x80.
    package static func length(_ count: Int, flag: UInt8 = 0) -> [UInt8] {
        guard count >= 127 else { return [flag | UInt8(count)] }
        var prefix: [UInt8] = [flag | 127]
        var rest = count - 127
        while rest >= 128 {
            prefix.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return prefix + [UInt8(rest)]
    }

    /// A field whose name and value are Huffman-coded if that makes them shorter; it does not go into the table.
    package static func compressed(_ name: String, _ value: String) -> [UInt8] {
        var deflater: OpaquePointer?
        unsafe _ = nghttp2_hd_deflate_new(&deflater, 4096)
        defer { unsafe nghttp2_hd_deflate_del(deflater) }
        var (nameBytes, valueBytes) = (Array(name.utf8), Array(value.utf8))
        var block = [UInt8](repeating: 0, count: nameBytes.count + 2 * valueBytes.count + 64)
        let count = unsafe nameBytes.withUnsafeMutableBufferPointer { name in
            unsafe valueBytes.withUnsafeMutableBufferPointer { value in
                var field = unsafe nghttp2_nv(
                    name: name.baseAddress,
                    value: value.baseAddress,
                    namelen: name.count,
                    valuelen: value.count,
                    flags: UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
                )
                return unsafe nghttp2_hd_deflate_hd(deflater, &block, block.count, &field, 1)
            }
        }
        return Array(block[..<count])
    }

    /// Reads the heads of one direction of a connection, in order, since each may refer to those before it.
    @safe
    package final class Reader {
        private var inflater: OpaquePointer?

        package init() {
            unsafe _ = nghttp2_hd_inflate_new(&inflater)
        }

        deinit {
            unsafe nghttp2_hd_inflate_del(inflater)
        }

        /// The fields of a block, each as `name: value`.
        package func fields(of block: [UInt8]) -> [String] {
            var rest = block[...]
            var fields: [String] = []
            while true {
                var flags: Int32 = 0
                guard let (used, field) = next(Array(rest), &flags) else { return fields + ["what no HPACK is"] }
                rest = rest.dropFirst(used)
                if let field { fields.append(field) }
                if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
                if flags == 0, rest.isEmpty { break }
            }
            unsafe _ = nghttp2_hd_inflate_end_headers(inflater)
            return fields
        }

        private func next(_ bytes: [UInt8], _ flags: inout Int32) -> (Int, String?)? {
            var field = unsafe nghttp2_nv()
            let used = unsafe nghttp2_hd_inflate_hd2(inflater, &field, &flags, bytes, bytes.count, 1)
            guard used >= 0 else { return nil }
            guard flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 else { return (used, nil) }
            let name = unsafe UnsafeBufferPointer(start: field.name, count: field.namelen)
            let value = unsafe UnsafeBufferPointer(start: field.value, count: field.valuelen)
            return unsafe (used, "\(Array(name).latin1): \(Array(value).latin1)")
        }
    }
}
