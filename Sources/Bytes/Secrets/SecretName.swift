/// The names that stand for credentials: of header fields, query parameters and JSON members in texts.
///
/// This is the only table of such names. Case and separators do not count: `api_key` and `X-API-Key` are equal.
public enum SecretName {
    /// Whether a name stands for a credential, in any case and without escapes.
    ///
    /// If `isParameter` is true, the name is that of a parameter of a URL, where `key` and `code` are credentials.
    public static func matches(_ name: Span<UInt8>, isParameter: Bool = true) -> Bool {
        var (squeezed, words): ([UInt8], [[UInt8]]) = ([], [[]])
        for index in 0..<name.count {
            let byte = name[index].lowercasedASCII
            if byte.isNameByte {
                squeezed.append(byte)
                words[words.count - 1].append(byte)
            } else if !words[words.count - 1].isEmpty {
                words.append([])
            }
        }
        if words.last?.isEmpty == true { words.removeLast() }
        guard !squeezed.isEmpty else { return false }
        if isParameter, wholeNames.contains(squeezed) { return true }
        if describes(words) { return false }
        return words.contains(where: secretWords.contains)
            || parts.contains { squeezed.firstRange(of: $0, from: 0) != nil }
    }

    /// Whether words name a property of credentials, such as `token_type`, and not a credential.
    private static func describes(_ words: [[UInt8]]) -> Bool {
        if let last = words.last, words.count > 1, properties.contains(last) { return true }
        if words.starts(with: [Array("access".utf8), Array("control".utf8)]) { return true }
        return words.contains(Array("tokens".utf8)) && words.contains(where: quantities.contains)
    }

    private static func bytes(_ texts: String) -> [[UInt8]] { texts.split(separator: " ").map { Array($0.utf8) } }

    /// A credential, wherever one of these is in a name.
    private static let parts = bytes(
        """
        token secret password passwd passphrase passcode pincode pwd apikey accesskey privatekey signingkey \
        encryptionkey masterkey accountkey sharedkey authkey licensekey customerkey subscriptionkey functionskey \
        signature credential session sessid assertion bearer authorization cookie jwt csrf xsrf sharedaccess \
        accesscode authcode devicecode usercode codeverifier oauthverifier samlresponse samlrequest
        """
    )
    /// A credential, if one of these is a word of a name.
    private static let secretWords = Set(bytes("auth sid otp totp mfa pin sig hmac dpop"))
    /// A credential, if a parameter has exactly this name.
    private static let wholeNames = Set(bytes("key code pass pw"))
    /// The last word of a name that describes a credential.
    private static let properties = Set(bytes("type url uri endpoint count expires ttl method algorithm"))
    /// Words beside `tokens` that show a number of them.
    private static let quantities = Set(
        bytes("max min limit remaining reset used total count ratelimit prompt completion input output cached")
    )
}

extension UInt8 {
    /// Whether the byte, in small letters, is part of a word in a name.
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: true
        default: false
        }
    }
}

extension [UInt8] {
    /// The first place of `part` at or after `start`, or `nil` if there is none.
    func firstRange(of part: [UInt8], from start: Int) -> Range<Int>? {
        guard let first = part.first else { return nil }
        var index = start
        while let found = span.firstIndex(of: first, from: index), found + part.count <= count {
            if span.extracting(found..<found + part.count).equals(part) { return found..<found + part.count }
            index = found + 1
        }
        return nil
    }
}
