internal import Configuration
internal import Credentials
internal import Events
internal import HTTP
internal import Proxy

/// `martlet explain`: says what the configuration does with a request, without sending anything.
enum Explain {
    static func run(_ request: RehearsedRequest, file: String?, with registry: Registry) -> Exit {
        let file = ConfigurationFile.find(file, registry)
        do throws(ConfigurationFile.Rejection) {
            let loaded = try file.load()
            loaded.warnings.forEach(Terminal.complain)
            for lack in loaded.lacks { Terminal.complain("\(file.name): warning for this machine: \(lack.message)") }
            let explanation = Explanation(
                of: request,
                by: loaded.plan,
                tokens: tokens(of: loaded.plan.tokenFiles)
            )
            explanation.lines.forEach(Terminal.print)
            return .success
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
    }

    private static func tokens(of paths: [String]) -> [String: [UInt8]?] {
        var tokens: [String: [UInt8]?] = [:]
        for path in paths {
            switch SmallFile.read(path, limit: TokenText.limit) {
            case .success(let content): tokens.updateValue(TokenText.token(in: content), forKey: path)
            case .failure(let error):
                Terminal.complain("martlet: cannot read \(path): \(error.text)")
                tokens.updateValue(nil, forKey: path)
            }
        }
        return tokens
    }

    /// The request that the command line describes.
    static func request(_ invocation: Invocation) throws(UsageError) -> RehearsedRequest {
        let (method, target) = (invocation.operands[0], invocation.operands[1])
        guard FieldName.isValid(method) else {
            throw invocation.error("\(Diagnostic.quote(method)) is not a valid method; write GET or POST, for example")
        }
        guard target.hasPrefix("/"), isVisible(target) else {
            throw invocation.error(
                "\(Diagnostic.quote(target)) is not a valid path; write /pkg.Service/Method, for example"
            )
        }
        var request = RehearsedRequest(method: method.uppercased(), target: target)
        for text in invocation.values(of: .header) {
            guard let header = header(text) else {
                throw invocation.error("\(Diagnostic.quote(text)) is not a valid header; write 'name: value'")
            }
            request.headers.append(header)
        }
        if let data = invocation[.data], !data.isEmpty { request.messages = [Array(data.utf8)] }
        return request
    }

    /// Reads a header, written `name: value`; none if it is not valid.
    static func header(_ text: String) -> (name: String, value: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon].lowercased()
        let value = text[text.index(after: colon)...].drop { $0 == " " }
        guard FieldName.isValid(name), isVisible(value.replacing(" ", with: "")) else { return nil }
        return (name, String(value))
    }

    /// Whether nothing of it is a space or a control character.
    private static func isVisible(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }
}
