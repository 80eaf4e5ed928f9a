internal import Configuration
internal import Documents
internal import Events

/// Tokens that named calls bring.
extension TokenTemplate {
    static let callOptions = [
        Option("name", .string, required: true, example: "login", "The call, of those under calls."),
        Option("value", .string, default: "/access_token", "Where its response has the token (RFC 6901)."),
        Option("expires_in", .string, "Where it has for how many seconds the token is good."),
        Option("expires_at", .string, "Where it has when the token ends: seconds since 1970, or a time of RFC 3339."),
    ]

    init?(call section: Section, _ calls: NamedCalls) {
        guard let entry = calls.entry(section, "name"), let fields = Self.fields(section, value: "value") else {
            return nil
        }
        let settings = entry.call.settings
        let source = { (request: FetchRequest) in
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
