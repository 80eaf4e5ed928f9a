internal import Bytes

/// The fields that belong to one connection and are not forwarded (RFC 9110 §7.6.1).
extension HTTPHead {
    /// Removes `Connection` and all fields that it names.
    func removeConnection() {
        // A set: the field may name thousands, and to look for each of them among all fields is slow.
        var named: Set<[UInt8]> = []
        while let index = first(.connection) {
            value(at: index).forEachListItem { named.insert($0.array.map(\.lowercasedASCII)) }
            remove(at: index)
        }
        var index = 0
        while index < count {
            if named.contains(name(at: index).array) { remove(at: index) } else { index += 1 }
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
