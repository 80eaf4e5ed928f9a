internal import Bytes
internal import Configuration
internal import Credentials
internal import Events
internal import Proxy

/// Where a token comes from: the same for every call, or a source of its own for each.
enum TokenTemplate: Sendable {
    case constant(CredentialSource)
    /// An error for a call that lacks what it is made of.
    case perCall(@Sendable (Call?) -> Result<CredentialSource, TemplateLack>)

    /// The source, where it is the same for every call.
    var constant: CredentialSource? {
        if case .constant(let source) = self { source } else { nil }
    }

    /// Reads the source that a section names; none if it names none rightly, which is reported.
    init?(_ section: Section, _ context: BuildContext) {
        if let file = NamedFile(section) {
            self = .constant(.file(file.path))
        } else if section.has("value") || section.has("env") {
            guard let text = Secret.text(section) else { return nil }
            guard let token = TokenText.token(in: text) else {
                let name = section.string(ifGiven: "env")
                let subject = name.map { "the environment variable \($0)" } ?? "the token"
                let problem = "\(subject) is empty, larger than 64 KiB, or not valid in a header"
                section.report(problem, at: name == nil ? "value" : "env")
                return nil
            }
            self = .constant(.fixed(token))
        } else if section.has("exec") {
            self.init(exec: section.section("exec"))
        } else if section.has("oauth2") {
            self.init(oauth2: section.section("oauth2"), context.resources.acquired)
        } else if section.has("exchange") {
            self.init(exchange: section.section("exchange"), context.resources.acquired)
        } else if section.has("jwt") {
            self.init(jwt: section.section("jwt"))
        } else if section.has("call") {
            self.init(call: section.section("call"), context.resources.calls)
        } else if section.has("gcp") {
            self.init(gcp: section.section("gcp"), context.resources.acquired)
        } else if section.has("kubernetes") {
            self.init(kubernetes: section.section("kubernetes"), context.resources.acquired)
        } else {
            return nil
        }
    }
}

/// A text that may depend on the call.
struct TokenParameter: Sendable {
    private let template: Template

    init(_ text: String, at mark: Mark, into diagnostics: Diagnostics) {
        template = Template(text, at: mark, into: diagnostics)
    }

    init?(_ section: Section, _ key: String) {
        guard let text = section.string(ifGiven: key) else { return nil }
        self.init(text, at: section.mark(of: key), into: section.diagnostics)
    }

    var isConstant: Bool { template.constant != nil }

    /// The value for a call, or for every call.
    func bytes(for call: Call?) throws(TemplateLack) -> [UInt8] {
        if let lack = template.lack(for: call) { throw lack }
        return template.value(for: call)
    }

    /// The same as a text, which it cannot be if it is not UTF-8.
    func text(for call: Call?) throws(TemplateLack) -> String {
        guard let text = String(validating: try bytes(for: call), as: UTF8.self) else { throw .missing }
        return text
    }

    /// The value without the scheme of a header that carries a token; there has to be something behind that.
    func token(for call: Call?) throws(TemplateLack) -> [UInt8] {
        let bytes = try bytes(for: call)
        let token = bytes.span.withoutBearer.array
        guard isConstant || !token.isEmpty else { throw .missing }
        return token
    }
}

extension TokenTemplate {
    /// A source that is made of parameters: one for all calls, unless what it is made of depends on them.
    init?(isConstant: Bool, _ make: @escaping @Sendable (Call?) -> Result<CredentialSource, TemplateLack>) {
        guard isConstant else {
            self = .perCall(make)
            return
        }
        guard case .success(let source) = make(nil) else { return nil }
        self = .constant(source)
    }
}

extension Span<UInt8> {
    /// What is behind the scheme `Bearer`, in any case (RFC 9110 §11.1), if that is there.
    var withoutBearer: Span<UInt8> {
        @_lifetime(copy self)
        get {
            var start = 6
            guard count >= start, extracting(0..<start).equalsIgnoringCase("bearer") else { return self }
            guard count == start || self[start] == UInt8(ascii: " ") else { return self }
            while start < count, self[start] == UInt8(ascii: " ") { start += 1 }
            return extracting(start..<count)
        }
    }
}
