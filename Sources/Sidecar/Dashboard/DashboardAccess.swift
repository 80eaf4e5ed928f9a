internal import Bytes
internal import Events
internal import TLS

/// Who may use a dashboard that `martlet dashboard` serves: whoever has a token that works once, and then its cookie.
final class DashboardAccess: Sendable {
    /// The name of the cookie, with the port in it: all ports of a host have the same cookies.
    let cookieName: String
    private let cookie = DashboardAccess.secret()
    private let token = Locked(DashboardAccess.secret())
    private let onUse: @Sendable (String) -> Void

    /// Makes the access to a port; `onUse` is called with the next token when one has been used.
    init(port: String, onUse: @escaping @Sendable (String) -> Void) {
        cookieName = "martlet-dashboard-\(port)"
        self.onUse = onUse
    }

    /// The token that works now.
    var currentToken: String { token.withLock { $0 } }

    /// Uses a token up.
    ///
    /// - Returns: the value of `set-cookie` that it is worth; nil if the token is not the one that works now.
    func exchange(_ text: String) -> String? {
        let next = token.withLock { token -> String? in
            guard Self.areEqual(text, token) else { return nil }
            token = Self.secret()
            return token
        }
        guard let next else { return nil }
        onUse(next)
        return "\(cookieName)=\(cookie); HttpOnly; SameSite=Strict; Path=/"
    }

    /// Whether the values of `cookie` have ours.
    func admits(cookies: [String]) -> Bool {
        cookies.flatMap { $0.split(separator: ";") }.contains { pair in
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[0] == cookieName && Self.areEqual(String(parts[1]), cookie)
        }
    }

    private static func areEqual(_ left: String, _ right: String) -> Bool {
        ConstantTime.areEqual(Array(left.utf8).span, Array(right.utf8).span)
    }

    /// A text of 128 random bits.
    private static func secret() -> String {
        var random = SystemRandomNumberGenerator()
        let digits = (0..<32).map { _ in "0123456789abcdef".randomElement(using: &random)! }
        return String(digits)
    }
}
