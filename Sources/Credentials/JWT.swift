internal import Bytes
public import Documents
internal import RPC
public import TLS
public import Time

/// A JSON Web Token (RFC 7519) that is made here, in the compact form of JWS (RFC 7515 §7.1).
public struct JWT: Equatable, Sendable {
    /// The header `typ`; nil leaves it out.
    public var type: String?
    /// The header `kid`, which tells the reader by which key to verify; nil leaves it out.
    public var keyID: String?
    /// The claims in their order, no name twice.
    public var claims: [JSONValue.Member]

    /// Makes a token that is still to be signed.
    public init(type: String? = "JWT", keyID: String? = nil, claims: [JSONValue.Member]) {
        self.type = type
        self.keyID = keyID
        self.claims = claims
    }

    /// The token with its signature, as it is sent.
    ///
    /// - Throws: an error if the key cannot sign.
    public func signed(by key: SigningKey) throws(TLSMaterialError) -> [UInt8] {
        var header = [JSONValue.Member("alg", .string(key.algorithm.rawValue))]
        if let type { header.append(JSONValue.Member("typ", .string(type))) }
        if let keyID { header.append(JSONValue.Member("kid", .string(keyID))) }
        let input =
            Self.base64(JSONValue.object(header).bytes) + [Self.dot] + Self.base64(JSONValue.object(claims).bytes)
        return try input + [Self.dot] + Self.base64(key.signature(of: input))
    }

    /// When a token ends by its claim `exp` (RFC 7519 §4.1.4), in wall time.
    ///
    /// Nothing is verified: this is for knowing when to fetch another, not for trusting.
    ///
    /// - Returns: the time; nil for what is no token in the compact form of JWS, and for one that has no such claim.
    public static func expiry(of token: [UInt8]) -> WallTime? {
        let parts = token.split(separator: dot, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ $0.allSatisfy(isCharacter) }),
            object(parts[0]) != nil, let claims = object(parts[1])
        else { return nil }
        return claims["exp"].flatMap(Duration.init(seconds:)).map(WallTime.init(sinceEpoch:))
    }

    private static let dot = UInt8(ascii: ".")

    /// A part of a token as the JSON object it stands for; nil if it is none.
    private static func object(_ part: ArraySlice<UInt8>) -> JSONValue? {
        guard let bytes = Base64.decode(Array(part).span), let value = try? JSON.parse(bytes), case .object = value
        else { return nil }
        return value
    }

    /// Whether a byte belongs to the alphabet of base64url, which `Base64.decode` does not tell from the other.
    private static func isCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// Base64url without padding (RFC 7515 §2).
    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        let queue = ByteQueue()
        queue.append(base64: bytes.span, .urlSafe)
        return queue.readable.array
    }
}

extension Duration {
    /// The length that a number of seconds stands for, whole or not, such as a NumericDate (RFC 7519 §2) counts from 1970 on.
    ///
    /// The longest or the shortest if it does not fit; nil for what is not a number.
    init?(seconds value: JSONValue) {
        switch value {
        case .integer(let seconds): self = .seconds(seconds)
        case .number(let seconds): self = Duration(clampingNanoseconds: seconds.approximation * 1e9)
        default: return nil
        }
    }
}
