internal import Bytes
internal import Configuration
internal import HTTP
public import Protocols
internal import RPC

/// A request as it came from a caller or went upstream, kept so that people can repeat it.
public struct RequestCopy: Sendable {
    /// A header or a trailer.
    public struct Field: Equatable, Sendable {
        /// In small letters.
        public let name: [UInt8]
        /// None if it is not shown.
        public let value: [UInt8]?
    }

    /// The body.
    public enum Body: Equatable, Sendable {
        case none
        case bytes([UInt8])
        /// Its parts that are not shown are `***`.
        case masked([UInt8])
        /// It was not kept: why.
        case missing(String)
    }

    /// The most bytes of a body that are kept.
    static let maxBody = 16 * 1024

    /// Where the request went.
    public enum Place: Equatable, Sendable {
        /// A host, or an address, with its port.
        case tcp(String)
        /// A Unix socket.
        case unix(path: String)
    }

    public internal(set) var place: Place
    /// Whether it went in TLS, and what the other end is known by.
    public internal(set) var tls: TLS?
    public let isHTTP2: Bool
    public let method: [UInt8]
    public let target: [UInt8]
    /// The host that the request names.
    public let authority: [UInt8]
    public let fields: [Field]
    public let trailers: [Field]
    public let body: Body
    /// Whether the head says how long the body is.
    public let hasLength: Bool
    /// Whether `te: trailers` was sent.
    public let acceptsTrailers: Bool
    /// What the request is in.
    public let rpcProtocol: RPCProtocol
    /// Its messages as JSON, if all of them are known so.
    public internal(set) var messages: [[UInt8]]?

    /// What a client needs to know about the TLS of a server.
    public struct TLS: Equatable, Sendable {
        public var authorities: String?
        public var certificate: (file: String, key: String)?
        public var isInsecure = false

        public static func == (one: TLS, other: TLS) -> Bool {
            one.authorities == other.authorities && one.isInsecure == other.isInsecure
                && one.certificate?.file == other.certificate?.file && one.certificate?.key == other.certificate?.key
        }
    }

    /// The fields of a head; of those that are not shown, only the names.
    static func fields(_ head: HTTPHead, _ call: Call) -> [Field] {
        (0..<head.count).map { index in
            let name = head.name(at: index)
            let value = head.value(at: index)
            let text = value.string
            let isShown = !call.hides(name) && ShownURL.text(text, ofField: name.string) == text
            return Field(name: name.array, value: isShown ? value.array : nil)
        }
    }
}
