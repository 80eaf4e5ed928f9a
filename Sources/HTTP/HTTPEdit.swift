internal import Bytes

/// One change of a head.
package struct HTTPEdit: BitwiseCopyable, Sendable {
    /// What was done.
    package enum Kind: UInt8, BitwiseCopyable, Sendable {
        case set, added, removed, renamed
    }

    /// What it was done to.
    enum Subject: BitwiseCopyable, Sendable {
        case path, authority
        /// The field whose name lies there.
        case field(ByteRange)
    }

    /// What was done.
    package let kind: Kind
    let subject: Subject

    static let path = Array(":path".utf8)
    static let authority = Array(":authority".utf8)
}

/// Where the target of a head lies.
struct TargetPlace: BitwiseCopyable {
    var range = ByteRange.empty
    /// The length without the query.
    var pathCount = 0
}

/// A head as it was; its bytes stay where they are.
struct HTTPHeadMark: ~Copyable {
    var isSet = false
    var fields = OwnedList<HTTPHead.Field>(capacity: 1)
    var target = TargetPlace()
    var authorityRange = ByteRange.empty
}
