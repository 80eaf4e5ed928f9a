internal import Configuration
internal import Credentials
internal import Documents
internal import Events
internal import Proxy

/// Tokens that named calls bring.
extension TokenTemplate {
    static let callOptions = [
        Option("name", .string, required: true, example: "login", "The name of a call in `calls`."),
        Option("value", .string, default: "/access_token", "The JSON Pointer (RFC 6901) to the token in the response."),
        Option("expires_in", .string, "The JSON Pointer to the lifetime of the token in seconds."),
        Option(
            "expires_at",
            .string,
            "The JSON Pointer to the expiry of the token: seconds since 1970, or an RFC 3339 time."
        ),
    ]

    init?(call section: Section, _ calls: NamedCalls) {
        guard let entry = calls.entry(section, "name"), let fields = Self.fields(section, value: "value") else {
            return nil
        }
        let settings = entry.call.settings
        let source = { @Sendable (request: FetchRequest) in
            CredentialSource.http(
                HTTPSource(
                    kind: "call",
                    server: entry.server,
                    request: request,
                    form: [],
                    authentication: .none,
                    response: .json(fields),
                    timeout: settings.timeout
                )
            )
        }
        // What is in the way of a constant one has been reported where the call is checked.
        self.init(isConstant: !entry.call.requiresCall) { call in
            if let lack = entry.call.lack(for: call) { return .failure(lack) }
            guard let request = try? entry.call.render(for: call) else { return .failure(.missing) }
            return .success(source(request))
        }
    }
}
