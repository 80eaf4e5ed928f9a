internal import Bytes
public import Documents
internal import RPC
public import Time

/// What the claims of our own tokens are made of (RFC 7519 §4.1); equal if what may come from a call is, byte by byte.
public struct JWTClaims: Equatable, Sendable {
    /// The claim `iss`.
    public var issuer: String?
    /// The claim `sub`.
    public var subject: String?
    /// The claim `aud`: one is a string, several are a list, none leaves it out.
    public var audience: [String]
    /// From `iat` to `exp`; at least a second.
    public var lifetime: Duration
    /// By how much `nbf` lies before `iat`, for verifiers whose clock is behind; nil leaves `nbf` out.
    public var notBeforeLeeway: Duration?
    /// All others in their order; one that has the name of a claim above takes its place.
    public var others: [JSONValue.Member]

    /// Says what tokens are to claim.
    public init(
        issuer: String? = nil,
        subject: String? = nil,
        audience: [String] = [],
        lifetime: Duration = 300 * .second,
        notBeforeLeeway: Duration? = nil,
        others: [JSONValue.Member] = []
    ) {
        self.issuer = issuer
        self.subject = subject
        self.audience = audience
        self.lifetime = lifetime
        self.notBeforeLeeway = notBeforeLeeway
        self.others = others
    }

    public static func == (left: JWTClaims, right: JWTClaims) -> Bool {
        left.issuer == right.issuer && left.audience == right.audience && left.lifetime == right.lifetime
            && left.notBeforeLeeway == right.notBeforeLeeway && left.others == right.others
            && (left.subject == nil) == (right.subject == nil)
            && (left.subject ?? "").isSame(as: right.subject ?? "")
    }

    /// The claims by which a client authenticates at a token endpoint (`private_key_jwt`, RFC 7523 §3).
    public static func clientAssertion(
        clientID: String,
        audience: String,
        lifetime: Duration = 60 * .second
    ) -> JWTClaims {
        JWTClaims(issuer: clientID, subject: clientID, audience: [audience], lifetime: lifetime)
    }

    /// The claims of a token that is made at the wall time `now`; its times are whole seconds, and `id` is its `jti`.
    public func members(at now: WallTime, id: String?) -> [JSONValue.Member] {
        let issued = now.secondsAndNanoseconds.seconds
        var members: [JSONValue.Member] = []
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONValue.Member(name, value)) }
        }
        add("iss", issuer.map(JSONValue.string))
        add("sub", subject.map(JSONValue.string))
        switch audience.count {
        case 0: break
        case 1: add("aud", .string(audience[0]))
        default: add("aud", .array(audience.map(JSONValue.string)))
        }
        add("iat", .integer(issued))
        add("nbf", notBeforeLeeway.map { .integer(issued - Int($0 / .second)) })
        add("exp", .integer(issued + max(1, Int(lifetime / .second))))
        add("jti", id.map(JSONValue.string))
        for other in others {
            if let index = members.firstIndex(where: { $0.name.isSame(as: other.name) }) {
                members[index].value = other.value
            } else {
                members.append(other)
            }
        }
        return members
    }

    /// A `jti` that no other token has: 128 random bits in base64url.
    ///
    /// The generator is one that cannot be foretold: the system's, outside of tests.
    public static func makeID(using generator: inout some RandomNumberGenerator) -> String {
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let queue = ByteQueue()
        queue.append(base64: bytes.span, .urlSafe)
        return queue.readable.string
    }
}
