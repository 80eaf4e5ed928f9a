internal import Bytes

/// The fields that belong to one connection and are not forwarded (RFC 9110 §7.6.1).
extension HTTPHead {
    /// Removes `Connection` and all fields that it names.
    func removeConnection() {
        while let index = first(.connection) {
            let named = value(at: index).string
            remove(at: index)
            for name in named.utf8.split(separator: UInt8(ascii: ",")) {
                remove(FieldName(String(decoding: Array(name).span.trimmed.array, as: UTF8.self)))
            }
        }
    }

    /// Removes all fields of the connection from a head that no session has read.
    ///
    /// `te: trailers` counts, and goes on in the session's own words.
    package func removeConnectionFields() {
        removeConnection()
        var index = 0
        while index < count {
            guard known(at: index).isHopByHop else {
                index += 1
                continue
            }
            if known(at: index) == .te, value(at: index).hasToken("trailers") { acceptsTrailers = true }
            remove(at: index)
        }
    }
}
