internal import Bytes
internal import HTTP
internal import RPC

/// The credentials that a caller has sent, in the spellings in which an upstream may repeat them.
enum SentCredentials {
    /// Returns the credentials in the value of a masked header, whose name is in small letters.
    static func inField(_ name: Span<UInt8>, _ value: Span<UInt8>) -> [[UInt8]] {
        let value = value.array
        return [value] + (name.equals("cookie") ? cookies(value) : afterScheme(value) + parameters(value))
    }

    /// Returns the values of the parameters of a query that are masked, as they are and without escapes.
    static func inQuery(_ query: Span<UInt8>, besides hidden: String?) -> [[UInt8]] {
        var (values, start): ([[UInt8]], Int) = ([], 0)
        while let parameter = QueryParameter(in: query, at: &start) {
            let name = PercentEncoding.decode(query.extracting(parameter.name))
            let isHidden = hidden.map { name.elementsEqual($0.utf8) } ?? false
            guard isHidden || SecretName.matches(name.span) else { continue }
            let value = query.extracting(parameter.value)
            let spaced = value.array.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
            values += [value.array, PercentEncoding.decode(value), PercentEncoding.decode(spaced.span)]
        }
        return values
    }

    /// Returns the values of cookies, without quotes and without escapes.
    private static func cookies(_ value: [UInt8]) -> [[UInt8]] {
        value.split(separator: UInt8(ascii: ";")).flatMap { cookie -> [[UInt8]] in
            guard let equals = cookie.firstIndex(of: UInt8(ascii: "=")) else { return [] }
            let plain = unquoted(cookie[(equals + 1)...])
            return [plain, PercentEncoding.decode(plain.span)]
        }
    }

    /// Returns the credentials after a scheme, such as `Bearer`.
    private static func afterScheme(_ value: [UInt8]) -> [[UInt8]] {
        guard let gap = value.firstIndex(where: \.isGap) else { return [] }
        let credentials = Array(value[gap...].drop(while: \.isGap))
        guard value.span.extracting(0..<gap).equalsIgnoringCase("basic") else { return [credentials] }
        let plain = Base64.decode(credentials.span) ?? []
        return [credentials, plain]
            + plain.split(separator: UInt8(ascii: ":"), maxSplits: 1).dropFirst().map(Array.init)
    }

    /// Returns the values of parameters, as in `Digest`, and of a scheme with a colon, as in `ApiKey:…`.
    private static func parameters(_ value: [UInt8]) -> [[UInt8]] {
        value.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }.flatMap { parameter -> [[UInt8]] in
            guard let end = parameter.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }) else {
                return []
            }
            let name = parameter[..<end].split(whereSeparator: \.isGap).last ?? []
            return descriptions.contains { name.span.equalsIgnoringCase($0) } ? [] : [unquoted(parameter[(end + 1)...])]
        }
    }

    /// Parameters that are not secret, and whose values are often ordinary words.
    private static let descriptions: [StaticString] = [
        "algorithm", "nc", "oauth_signature_method", "oauth_timestamp", "oauth_version", "qop", "realm",
        "signedheaders", "uri", "username",
    ]

    private static func unquoted(_ value: ArraySlice<UInt8>) -> [UInt8] {
        let trimmed = value.span.trimmedOfWhiteSpace.array
        guard trimmed.count > 1, trimmed.first == UInt8(ascii: "\""), trimmed.last == UInt8(ascii: "\"") else {
            return trimmed
        }
        return Array(trimmed.dropFirst().dropLast())
    }
}

extension UInt8 {
    fileprivate var isGap: Bool { self == 0x20 || self == 0x09 }
}
