internal import Bytes

/// The values of fields whose names end in `-bin`.
extension Span<UInt8> {
    /// The base64 values of a field without their padding; `nil` if they have none.
    ///
    /// Connect and gRPC read both forms and write the one without. Several values of one name may be joined by commas.
    var unpaddedBase64: [UInt8]? {
        guard let padding = firstIndex(of: UInt8(ascii: "=")) else { return nil }
        var bytes = extracting(0..<padding).array
        for index in padding..<count where self[index] != UInt8(ascii: "=") { bytes.append(self[index]) }
        return bytes
    }
}
