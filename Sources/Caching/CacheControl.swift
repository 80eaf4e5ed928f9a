internal import Bytes
public import HTTP
public import Time

/// The directives of `cache-control` that a shared cache goes by (RFC 9111 §5.2, RFC 5861, RFC 8246).
///
/// A value: safe on any thread.
public struct CacheControl: Equatable, Sendable {
    /// The directives without a value that counts.
    public struct Flags: OptionSet, Sendable {
        public let rawValue: UInt16

        /// Makes a set of directives from its bits.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// `no-store`: what has it is not kept.
        public static let noStore = Flags(rawValue: 1)
        /// `no-cache`, with fields or without: what has it is validated before it is used.
        public static let noCache = Flags(rawValue: 2)
        /// `private`, with fields or without: for one caller only.
        public static let isPrivate = Flags(rawValue: 4)
        /// `public`: for all callers, even if the request has credentials.
        public static let isPublic = Flags(rawValue: 8)
        /// `must-revalidate`: never used when it is stale, and for all callers, even if the request has credentials.
        public static let mustRevalidate = Flags(rawValue: 16)
        /// `proxy-revalidate`: never used by a shared cache when it is stale.
        public static let proxyRevalidate = Flags(rawValue: 128)
        /// `only-if-cached`: the caller wants no request to the upstream.
        public static let onlyIfCached = Flags(rawValue: 32)
        /// `must-understand`: `no-store` counts only for those who do not know the status (RFC 9111 §5.2.2.3).
        public static let mustUnderstand = Flags(rawValue: 64)
    }

    /// The directives without a value.
    public var flags: Flags = []
    /// `max-age`.
    public var maxAge: Duration?
    /// `s-maxage`, which counts before `max-age` and `expires` in a shared cache.
    public var sharedMaxAge: Duration?
    /// `min-fresh` of a request.
    public var minFresh: Duration?
    /// `max-stale` of a request; `.max` without a value.
    public var maxStale: Duration?
    /// `stale-while-revalidate` of a response.
    public var staleWhileRevalidate: Duration?
    /// `stale-if-error`.
    public var staleIfError: Duration?
    /// Whether there is a field at all.
    public private(set) var isPresent = false
    /// Whether it is for caches in front of the server, so that `expires` does not count beside it.
    public private(set) var isTargeted = false

    /// No directives.
    public init() {}

    /// Reads all fields of a head, or those that are meant for caches in front of the server and count alone where they are
    /// (RFC 9213).
    public init(_ head: HTTPHead) {
        self.init(head, Self.targeted)
        isTargeted = isPresent && Self.areStructured(Self.targeted, in: head)
        if !isTargeted { self.init(head, Self.name) }
    }

    private init(_ head: HTTPHead, _ name: FieldName) {
        var index = head.first(name)
        while let found = index {
            read(head.value(at: found))
            index = head.first(name, from: found + 1)
        }
    }

    private static let name = FieldName("cache-control")
    private static let targeted = FieldName("cdn-cache-control")

    /// Reads the value of one field; of a directive that stands twice, the first counts.
    public mutating func read(_ value: Span<UInt8>) {
        var list = ListReader()
        while let element = list.next(value) {
            isPresent = true
            let directive = value.extracting(element)
            let end = directive.firstIndex(of: UInt8(ascii: "=")) ?? directive.count
            let argument = end < directive.count ? directive.extracting(end + 1..<directive.count) : Span()
            read(directive.extracting(0..<end).trimmed, argument.trimmed, hasArgument: end < directive.count)
        }
    }

    private mutating func read(_ name: Span<UInt8>, _ argument: Span<UInt8>, hasArgument: Bool) {
        if name.equalsIgnoringCase("max-age") {
            maxAge = maxAge ?? Self.seconds(argument)
        } else if name.equalsIgnoringCase("s-maxage") {
            sharedMaxAge = sharedMaxAge ?? Self.seconds(argument)
        } else if name.equalsIgnoringCase("min-fresh") {
            minFresh = minFresh ?? Self.seconds(argument)
        } else if name.equalsIgnoringCase("max-stale") {
            maxStale = maxStale ?? (hasArgument ? Self.seconds(argument) : .max)
        } else if name.equalsIgnoringCase("stale-while-revalidate") {
            staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(argument)
        } else if name.equalsIgnoringCase("stale-if-error") {
            staleIfError = staleIfError ?? Self.seconds(argument)
        } else {
            flags.formUnion(Self.flag(name))
        }
    }

    private static func flag(_ name: Span<UInt8>) -> Flags {
        if name.equalsIgnoringCase("no-store") { return .noStore }
        if name.equalsIgnoringCase("no-cache") { return .noCache }
        if name.equalsIgnoringCase("private") { return .isPrivate }
        if name.equalsIgnoringCase("public") { return .isPublic }
        if name.equalsIgnoringCase("must-revalidate") { return .mustRevalidate }
        if name.equalsIgnoringCase("proxy-revalidate") { return .proxyRevalidate }
        if name.equalsIgnoringCase("only-if-cached") { return .onlyIfCached }
        return name.equalsIgnoringCase("must-understand") ? .mustUnderstand : []
    }

    /// Reads `delta-seconds`, with quotes or without, and without parameters; what is malformed is 0, and what is too large the most there is
    /// (RFC 9111 §1.2.2, §4.2.1).
    static func seconds(_ text: Span<UInt8>) -> Duration {
        let text = text.extracting(0..<(text.firstIndex(of: UInt8(ascii: ";")) ?? text.count)).trimmed
        let isQuoted = text.count > 1 && text[0] == UInt8(ascii: "\"") && text[text.count - 1] == UInt8(ascii: "\"")
        let digits = isQuoted ? text.extracting(1..<text.count - 1) : text
        guard digits.count > 0 else { return .zero }
        var seconds = 0
        for index in digits.indices {
            guard 0x30...0x39 ~= digits[index] else { return .zero }
            seconds = min(seconds * 10 + Int(digits[index] & 15), 1 << 31)
        }
        return .seconds(seconds)
    }
}
