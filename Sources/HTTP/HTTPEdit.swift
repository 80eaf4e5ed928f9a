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

/// A head as it was; its bytes stay where they are.
struct HTTPHeadMark: ~Copyable {
    var fields = OwnedList<HTTPHead.Field>(capacity: 1)
    var targetRange = ByteRange.empty
    var authorityRange = ByteRange.empty
}
