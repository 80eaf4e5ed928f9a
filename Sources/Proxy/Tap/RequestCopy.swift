internal import Bytes
internal import Configuration
internal import HTTP
package import Protocols
internal import RPC

/// A request as it came from a caller or went upstream, kept so that people can repeat it.
package struct RequestCopy: Sendable {
    /// A header or a trailer.
    package struct Field: Equatable, Sendable {
        /// In small letters.
        package let name: [UInt8]
        /// None if it is not shown.
        package let value: [UInt8]?
    }

    /// The body.
    package enum Body: Equatable, Sendable {
        /// The head ends the request.
        case none
        /// A body, which may be empty: chunks or frames without a length can end before the first byte.
        case bytes([UInt8])
        /// Its parts that are not shown are `***`.
        case masked([UInt8])
        /// It was not kept: why.
        case missing(String)
    }

    /// The most bytes of a body that are kept.
    static let maxBody = 16 * 1024

    /// The most messages that are kept as JSON.
    static let maxMessages = 64

    /// Where the request went.
    package enum Place: Equatable, Sendable {
        /// A host, or an address, with its port.
        case tcp(String)
        /// A Unix socket.
        case unix(path: String)
    }

    package let place: Place
    /// Where the connection leads to, if that is not what the place is called.
    package let address: String?
    /// Whether it went in TLS, and what the other end is known by.
    package let tls: TLS?
    package let isHTTP2: Bool
    package let method: [UInt8]
    package let target: [UInt8]
    /// The host that the request names.
    package let authority: [UInt8]
    package let fields: [Field]
    package let trailers: [Field]
    package let body: Body
    /// Whether the head says how long the body is.
    package let hasLength: Bool
    /// Whether `te: trailers` was sent.
    package let acceptsTrailers: Bool
    /// What the request is in.
    package let rpcProtocol: RPCProtocol
    /// Its messages as JSON, if all of them are known so.
    package let messages: [[UInt8]]?

    /// What a client needs to know about the TLS of a server.
    package struct TLS: Equatable, Sendable {
        package var authorities: String?
        package var certificate: (file: String, key: String)?
        package var isInsecure = false

        package static func == (one: TLS, other: TLS) -> Bool {
            one.authorities == other.authorities && one.isInsecure == other.isInsecure
                && one.certificate?.file == other.certificate?.file && one.certificate?.key == other.certificate?.key
        }
    }

    /// The fields of a head; of those that are not shown, only the names.
    static func fields(_ head: HTTPHead, _ call: Call) -> [Field] {
        let mask = CallMask(call)
        return (0..<head.count).map { index in
            let name = head.name(at: index)
            let value = head.value(at: index)
            let isShown = value.equals(mask.value(value, ofField: name))
            return Field(name: name.array, value: isShown ? value.array : nil)
        }
    }
}
