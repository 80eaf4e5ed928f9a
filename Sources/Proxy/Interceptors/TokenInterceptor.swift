internal import Bytes
internal import Configuration
private import Glibc
internal import HTTP
internal import RPC

/// Puts a credential into a header of every request.
final class TokenInterceptor: Interceptor, Redacting {
    static let kind = InterceptorKind(
        name: "token",
        summary:
            "Puts a token from a file or the environment into a request header; a file is read again when it changes.",
        isPerAttempt: true,
        rewrites: true,
        options: [
            Option("file", .string, oneOf: "source", example: "/run/secrets/token", "The file that holds the token."),
            Option("env", .string, oneOf: "source", "The environment variable that holds the token, read at load."),
            Option("header", .string, default: "authorization", "The header that carries the token."),
            Option("format", .string, default: "Bearer {token}", "The header's value; {token} stands for the token."),
            Option(
                "allow_clear_text",
                .bool,
                default: "false",
                "Whether the token may go to another host without TLS."
            ),
            Option(
                "on_failure",
                .node,
                shape: .either([.value(.choice(["continue"])), .value(.section(OnFailure.options))]),
                "What a call gets while there is no token: continue sends it without one; {code: …, message: …} rejects it."
            ),
        ],
        make: { TokenInterceptor($0, $1) }
    )

    let events: EventSet = .requestHead
    private let token: FileToken
    private let header: FieldName
    private let prefix: [UInt8]
    private let suffix: [UInt8]
    private let allowsClearText: Bool
    private let failure: OnFailure
    private var value: [UInt8] = []
    private var version = -1

    init(_ section: Section, _ context: CompileContext) {
        header = HeaderName.checked(section.string("header"), at: "header", of: section)
        allowsClearText = section.bool("allow_clear_text")
        failure = OnFailure(section)
        let format = section.string("format")
        HeaderValue.check(format, at: section.mark(of: "format"), into: section.diagnostics)
        let parts = format.split(separator: "{token}", omittingEmptySubsequences: false)
        if parts.count != 2 {
            section.report(
                "the format must have {token} in it once; write for example \"Bearer {token}\"",
                at: "format"
            )
        }
        prefix = Array((parts.first ?? "").utf8)
        suffix = Array((parts.count > 1 ? parts[1] : "").utf8)
        if let path = section.string(ifGiven: "file") {
            token = context.tokens.token(file: path)
        } else {
            token = FileToken()
            token.update(Self.environment(section))
        }
    }

    private static func environment(_ section: Section) -> [UInt8]? {
        guard let name = section.string(ifGiven: "env") else { return nil }
        guard let text = unsafe getenv(name) else {
            section.report("the environment variable \(name) is not set", at: "env")
            return nil
        }
        let token = TokenText.token(in: Array(unsafe String(cString: text).utf8))
        if token == nil { section.report("the environment variable \(name) holds no token", at: "env") }
        return token
    }

    var redactions: Redactions { Redactions(headers: [header]) }

    func objection(to upstream: UpstreamSettings) -> String? {
        guard !allowsClearText, !upstream.isConfidential else { return nil }
        guard upstream.tls == nil else {
            let problem = "the token would go to \(upstream.url), whoever that is (tls.insecure)"
            return "\(problem); add allow_clear_text: true if that is meant"
        }
        return "the token would go to \(upstream.url) in clear text; add allow_clear_text: true if that is meant"
    }

    func requestHead(_ call: Call) -> Verdict {
        if let upstream = call.route.upstream, !upstream.isConfidential, !allowsClearText {
            return failure.verdict("the token does not go to \(upstream.settings.name) in clear text")
        }
        if token.version != version { render() }
        let value = value
        guard !value.isEmpty else { return failure.verdict("there is no token") }
        call.request.set(header, value.span)
        return .next
    }

    private func render() {
        version = token.version
        value = token.value.map { prefix + $0 + suffix } ?? []
    }
}

/// What a call gets when its token cannot be had.
private enum OnFailure {
    case goOn
    case reject(RPCCode, message: String?)

    static let options = [
        Option("code", .choice(RPCCode.errorNames), default: "unavailable", "The code of the rejection."),
        Option("message", .string, "The message of the rejection; what went wrong if absent."),
    ]

    init(_ section: Section) {
        guard let node = section.node("on_failure") else {
            self = .reject(.unavailable, message: nil)
            return
        }
        if node.text == "continue" {
            self = .goOn
            return
        }
        let options = Section(node, Self.options, into: section.diagnostics)
        self = .reject(
            RPCCode(name: options.string("code")) ?? .unavailable,
            message: options.string(ifGiven: "message")
        )
    }

    func verdict(_ cause: String) -> Verdict {
        switch self {
        case .goOn: .next
        case .reject(let code, let message): .reject(RPCError(code, message ?? cause))
        }
    }
}
