internal import Bytes
internal import Configuration
internal import Credentials
internal import Events
internal import Proxy
internal import TLS

/// Tokens that an OAuth 2.0 server gives: for client credentials (RFC 6749 §4.4), or for another token (RFC 8693).
extension TokenTemplate {
    private static let clientOptions =
        [
            Option(
                "token_url",
                .string,
                required: true,
                example: "https://id.example/token",
                "The URL of the token endpoint."
            ),
            Option("client_id", .string, example: "me", "The client ID."),
            Option("client_secret", .section(Secret.options), "The client secret."),
            Option(
                "auth",
                .choice(["basic", "post", "private_key_jwt"]),
                """
                How the client authenticates: in a header, in the form, or with a signed token. The default with a \
                secret is `basic`.
                """
            ),
            Option("key", .section(Secret.options), "The private key for `private_key_jwt`, in PEM."),
            Option("key_id", .string, "The ID of the key."),
            Option(
                "algorithm",
                .choice(SigningAlgorithm.allCases.map(\.rawValue)),
                default: "RS256",
                "The algorithm of the key."
            ),
            Option("scopes", .strings, "The scopes to request."),
            Option("audience", .string, "The audience to request."),
            Option("parameters", .map, "Other parameters to send. The values are templates."),
        ] + FetchTarget.options

    static let oauth2Options = clientOptions

    static let exchangeOptions =
        clientOptions + [
            Option(
                "subject_token",
                .string,
                required: true,
                example: "\"{header:x-user-token}\"",
                """
                The token to exchange, a template that Martlet renders for each call. Martlet removes a leading \
                `Bearer`.
                """
            ),
            Option(
                "subject_token_type",
                .string,
                default: "urn:ietf:params:oauth:token-type:access_token",
                "The type of the subject token."
            ),
            Option("actor_token", .string, "The token of the acting party, a template."),
            Option(
                "actor_token_type",
                .string,
                default: "urn:ietf:params:oauth:token-type:access_token",
                "The type of the actor token."
            ),
            Option("requested_token_type", .string, "The type of token to request."),
            Option("resource", .string, "The URI of the service that the token is for."),
        ]

    init?(oauth2 section: Section, _ acquired: Acquired) {
        self.init(client: section, [("grant_type", Self.fixed("client_credentials", section))], .oauth2, acquired)
    }

    init?(exchange section: Section, _ acquired: Acquired) {
        var form = [("grant_type", Self.fixed("urn:ietf:params:oauth:grant-type:token-exchange", section))]
        for key in ["subject_token", "subject_token_type", "actor_token", "requested_token_type", "resource"] {
            if let parameter = TokenParameter(section, key) { form.append((key, parameter)) }
        }
        if section.has("actor_token"), let type = TokenParameter(section, "actor_token_type") {
            form.append(("actor_token_type", type))
        }
        self.init(
            client: section,
            form,
            .exchange(requested: section.string(ifGiven: "requested_token_type")),
            acquired
        )
    }

    private static func fixed(_ text: String, _ section: Section) -> TokenParameter {
        TokenParameter(text, at: section.mark, into: section.diagnostics)
    }

    private init?(
        client section: Section,
        _ grant: [(String, TokenParameter)],
        _ response: CredentialResponse,
        _ acquired: Acquired
    ) {
        var form = grant
        let scopes = section.strings("scopes").joined(separator: " ")
        if !scopes.isEmpty { form.append(("scope", Self.fixed(scopes, section))) }
        if let audience = TokenParameter(section, "audience") { form.append(("audience", audience)) }
        form += section.map("parameters").map {
            if let taken = form.first(where: { [name = $0.name] in $0.0 == name }) {
                let problem = "\"parameters\" cannot contain \(taken.0), which Martlet sends already"
                section.diagnostics.report("\(problem); remove it", at: $0.nameMark)
            }
            return ($0.name, TokenParameter($0.text, at: $0.mark, into: section.diagnostics))
        }
        guard let authentication = Self.authentication(section), let target = FetchTarget(section, "token_url") else {
            return nil
        }
        let server = acquired.server(target.server, into: section.diagnostics)
        let timeout = section.duration("timeout")
        let isExchange = response != .oauth2
        let source = HTTPSource(
            kind: isExchange ? "exchange" : "oauth2",
            server: server,
            request: FetchRequest(
                method: "POST",
                target: Array(target.target.utf8),
                fields: [.init("accept", Array("application/json".utf8))]
            ),
            form: [],
            authentication: authentication,
            response: response,
            timeout: timeout
        )
        self.init(isConstant: form.allSatisfy(\.1.isConstant)) { [form] call in
            Self.parameters(form, for: call).map { parameters in
                var source = source
                source.form = parameters
                return .http(source)
            }
        }
    }

    private static func parameters(
        _ form: [(String, TokenParameter)],
        for call: Call?
    ) -> Result<[HTTPSource.Parameter], TemplateLack> {
        do throws(TemplateLack) {
            var parameters: [HTTPSource.Parameter] = []
            for (name, parameter) in form {
                parameters.append(.init(name: name, value: .value(try parameter.token(for: call))))
            }
            return .success(parameters)
        } catch {
            return .failure(error)
        }
    }

    private static func authentication(_ section: Section) -> HTTPSource.Authentication? {
        guard let id = section.string(ifGiven: "client_id") else {
            for key in ["client_secret", "auth", "key"] where section.has(key) {
                section.reportUnused(key, without: "client_id")
            }
            return HTTPSource.Authentication.none
        }
        if section.string(ifGiven: "auth") == "private_key_jwt" {
            guard section.has("key"), let signing = SigningSource(section) else {
                section.report("\"auth: private_key_jwt\" needs a key; add key: { file: PATH }", at: "auth")
                return nil
            }
            return .privateKeyJWT(id: id, signing)
        }
        guard section.has("client_secret") else {
            if let auth = section.string(ifGiven: "auth") {
                section.report("\"auth: \(auth)\" needs a secret; add client_secret: { file: PATH }", at: "auth")
            }
            return .id(id)
        }
        guard let secret = Secret(section.section("client_secret")) else { return nil }
        return section.string(ifGiven: "auth") == "post" ? .post(id: id, secret) : .basic(id: id, secret)
    }
}

extension SigningSource {
    /// Reads `key`, `key_id` and `algorithm`.
    init?(_ section: Section) {
        guard let key = Secret(section.section("key")) else { return nil }
        let algorithm = SigningAlgorithm(rawValue: section.string("algorithm")) ?? .rs256
        // What is in a file may come later, or change.
        if case .value(let pem) = key {
            do throws(TLSMaterialError) {
                _ = try SigningKey(pem: pem, algorithm: algorithm)
            } catch {
                section.report("the key cannot sign: \(error.text)", at: "key")
                return nil
            }
        }
        self.init(key: key, algorithm: algorithm, keyID: section.string(ifGiven: "key_id"))
    }
}
