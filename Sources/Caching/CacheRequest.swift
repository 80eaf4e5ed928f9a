internal import Bytes
public import HTTP
internal import Time

/// What a request asks of a cache (RFC 9111 §5.2.1, RFC 9110 §13.1 and §14.2), read in one pass over its fields.
///
/// A value: safe on any thread.
public struct CacheRequest: Sendable {
    /// What else a request has that counts.
    public struct Traits: OptionSet, Sendable {
        public let rawValue: UInt8

        /// Makes a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `authorization`.
        public static let authorization = Traits(rawValue: 1)
        /// `cookie`.
        public static let cookie = Traits(rawValue: 2)
        /// `range`.
        public static let range = Traits(rawValue: 4)
        /// `if-none-match` or `if-modified-since`: the caller has a response already.
        public static let validates = Traits(rawValue: 8)
        /// `if-match` or `if-unmodified-since`, which the upstream judges.
        public static let precondition = Traits(rawValue: 16)
    }

    /// The directives of `cache-control`; without them, `pragma: no-cache` stands for `no-cache`.
    public private(set) var control = CacheControl()
    /// What else it has.
    public private(set) var traits: Traits = []

    /// Reads the head of a request.
    public init(_ head: HTTPHead) {
        var hasPragma = false
        for index in 0..<head.count {
            switch head.known(at: index) {
            case .authorization: traits.insert(.authorization)
            case .cookie: traits.insert(.cookie)
            case .other:
                let name = head.name(at: index)
                switch name.count {
                case 5 where name.equals("range"): traits.insert(.range)
                case 6 where name.equals("pragma"):
                    hasPragma = hasPragma || head.value(at: index).trimmed.equalsIgnoringCase("no-cache")
                case 8 where name.equals("if-match"): traits.insert(.precondition)
                case 13 where name.equals("cache-control"): control.read(head.value(at: index))
                case 13 where name.equals("if-none-match"): traits.insert(.validates)
                case 17 where name.equals("if-modified-since"): traits.insert(.validates)
                case 19 where name.equals("if-unmodified-since"): traits.insert(.precondition)
                default: break
                }
            default: break
            }
        }
        if hasPragma, !control.isPresent { control.flags.insert(.noCache) }
    }

    /// Whether the caller wants nothing that was not validated just now.
    public var wantsValidation: Bool { control.flags.contains(.noCache) }

    /// Whether no response does for it that another request has brought, however new that is.
    var wantsNew: Bool { wantsValidation || control.maxAge == .zero }
}
