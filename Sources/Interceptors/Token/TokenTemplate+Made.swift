internal import Bytes
internal import Configuration
internal import Credentials
internal import Documents
internal import Events
internal import Proxy
internal import TLS
internal import Time

/// Tokens that are signed here, and those of the platform that Martlet runs on.
extension TokenTemplate {
    static let jwtOptions = [
        Option("key", .section(Secret.options), required: true, "The private key for the signature, in PEM."),
        Option("key_id", .string, "The ID of the key, for the header `kid`."),
        Option(
            "algorithm",
            .choice(SigningAlgorithm.allCases.map(\.rawValue)),
            default: "RS256",
            "The algorithm of the key."
        ),
        Option("issuer", .string, "The claim `iss`."),
        Option("subject", .string, "The claim `sub`, a template."),
        Option("audience", .strings, "The claim `aud`."),
        Option("lifetime", .duration, default: "5m", "The time from `iat` to `exp`, at least 1s."),
        Option(
            "claims",
            .node,
            shape: .anything,
            "Other claims: a mapping of names to values of any type. Strings are templates."
        ),
    ]

    init?(jwt section: Section) {
        guard let signing = SigningSource(section) else { return nil }
        let subject = TokenParameter(section, "subject")
        let claims = section.node("claims").map { JSONTemplate($0, into: section.diagnostics) }
        if let node = section.node("claims"), node.entries == nil {
            section.report("\"claims\" cannot be \(node.shape); write a mapping of names to values", at: "claims")
        }
        let lifetime = section.duration("lifetime") ?? .second
        if lifetime < .second {
            section.report("\"lifetime\" cannot be shorter than 1s; write for example 5m", at: "lifetime")
        }
        let (issuer, audience) = (section.string(ifGiven: "issuer"), section.strings("audience"))
        let isConstant = subject?.isConstant ?? true && claims?.requiresCall != true
        self.init(isConstant: isConstant) { call in
            if let lack = claims?.lack(for: call) { return .failure(lack) }
            var name: String?
            do throws(TemplateLack) {
                name = try subject?.text(for: call)
            } catch {
                return .failure(error)
            }
            let claims = JWTClaims(
                issuer: issuer,
                subject: name,
                audience: audience,
                lifetime: lifetime,
                others: claims?.members(for: call) ?? []
            )
            return .success(.jwt(JWTSource(signing: signing, claims: claims)))
        }
    }

    static let gcpOptions = [
        Option("audience", .string, "The audience of an identity token. Without it, Martlet fetches an access token."),
        Option("scopes", .strings, "The scopes of the access token."),
        Option("account", .string, default: "default", "The service account."),
        Option(
            "url",
            .string,
            default: "http://metadata.google.internal",
            "The URL of the metadata server. Its responses must stay on this machine."
        ),
        Option("timeout", .timeout, default: "10s", "The time limit of the response."),
    ]

    init?(gcp section: Section, _ acquired: Acquired) {
        let base = "/computeMetadata/v1/instance/service-accounts/\(section.string("account"))"
        let audience = section.string(ifGiven: "audience")
        let scopes = section.strings("scopes").joined(separator: ",")
        let query = { (name: String, text: String) in
            "?\(name)=" + String(decoding: FormEncoding.encode(Array(text.utf8)), as: UTF8.self)
        }
        let path =
            if let audience { "\(base)/identity\(query("audience", audience))" } else {
                "\(base)/token" + (scopes.isEmpty ? "" : query("scopes", scopes))
            }
        let node = Node(.mapping([]), at: section.mark)
        let options = Section(node, FetchTarget.metadata, into: section.diagnostics)
        guard let target = FetchTarget(options, "url", url: section.string("url") + path) else { return nil }
        self = .constant(
            .http(
                HTTPSource(
                    kind: "gcp",
                    server: acquired.server(target.server, into: section.diagnostics),
                    request: FetchRequest(
                        method: "GET",
                        target: Array(target.target.utf8),
                        fields: [.init("metadata-flavor", Array("Google".utf8))]
                    ),
                    form: [],
                    authentication: .none,
                    response: audience == nil ? .oauth2 : .text,
                    timeout: section.duration("timeout")
                )
            )
        )
    }

    static let kubernetesOptions =
        [
            Option("service_account", .string, required: true, "The service account of the token."),
            Option("namespace", .string, default: "default", "The namespace of the service account."),
            Option("audience", .strings, "The audience of the token. The default is the API server."),
            Option("lifetime", .duration, default: "1h", "The lifetime to request, at least 10m."),
            Option("url", .string, default: "https://kubernetes.default.svc", "The URL of the API server."),
            Option(
                "token_file",
                .string,
                default: "/var/run/secrets/kubernetes.io/serviceaccount/token",
                "The file with the token that authorizes the request."
            ),
        ] + FetchTarget.options

    init?(kubernetes section: Section, _ acquired: Acquired) {
        let account = section.string("service_account")
        let path = "/api/v1/namespaces/\(section.string("namespace"))/serviceaccounts/\(account)/token"
        guard let target = FetchTarget(section, "url", url: section.string("url") + path) else { return nil }
        let seconds = section.duration("lifetime").map { $0.seconds } ?? 3600
        if seconds < 600 {
            section.report(
                "\"lifetime\" cannot be shorter than 10m, the minimum of Kubernetes; write for example 1h",
                at: "lifetime"
            )
        }
        var spec = [JSONValue.Member("expirationSeconds", .integer(seconds))]
        let audiences = section.strings("audience")
        if !audiences.isEmpty { spec.append(JSONValue.Member("audiences", .array(audiences.map(JSONValue.string)))) }
        let body = JSONValue.object([
            JSONValue.Member("apiVersion", .string("authentication.k8s.io/v1")),
            JSONValue.Member("kind", .string("TokenRequest")), JSONValue.Member("spec", .object(spec)),
        ])
        self = .constant(
            .http(
                HTTPSource(
                    kind: "kubernetes",
                    server: acquired.server(target.server, into: section.diagnostics),
                    request: FetchRequest(
                        method: "POST",
                        target: Array(target.target.utf8),
                        fields: [.init("content-type", Array("application/json".utf8))],
                        body: .bytes(body.bytes)
                    ),
                    form: [],
                    authentication: .bearer(.file(section.string("token_file"))),
                    response: .tokenRequest,
                    timeout: section.duration("timeout")
                )
            )
        )
    }
}

extension JSONTemplate {
    /// The members of the object that it stands for, for a call.
    fileprivate func members(for call: Call?) -> [JSONValue.Member] {
        let queue = ByteQueue()
        append(for: call, to: queue)
        guard case .object(let members)? = try? JSON.parse(queue.readable.array) else { return [] }
        return Array(members)
    }
}

extension FetchTarget {
    /// The options of a metadata server, which has no TLS by its nature: it is the machine's own host.
    fileprivate static let metadata = [
        Option("allow_clear_text", .bool, default: "true", "Allows the request to go to another machine without TLS."),
        Option("tls", .section([]), "None."),
    ]
}
