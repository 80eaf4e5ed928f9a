internal import Configuration
internal import Events
internal import HTTP
internal import Proxy

/// `martlet explain`: says what the configuration does with a request, without sending anything.
enum Explain {
    static func run(_ request: ExplainedRequest, file: String?, with registry: Registry) -> Exit {
        let file = ConfigurationFile.find(file, registry)
        do throws(ConfigurationFile.Rejection) {
            let loaded = try file.load()
            loaded.warnings.forEach(Terminal.complain)
            let explanation = Explanation(
                of: request,
                by: loaded.settings,
                kinds: registry,
                tokens: tokens(of: loaded.tokenFiles),
                tls: loaded.tls
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
                Terminal.complain("martlet: \(path): cannot be read: \(error.text)")
                tokens.updateValue(nil, forKey: path)
            }
        }
        return tokens
    }

    /// Reads the arguments behind the command's name.
    ///
    /// - Returns: the request and the file, or what is wrong.
    static func parse(_ arguments: [String], file: String?) -> Invocation {
        var words: [String] = []
        var file = file
        var request = ExplainedRequest(method: "", target: "")
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), argument != "-h", argument != "--help" else {
                if argument.hasPrefix("-") { return .help }
                words.append(argument)
                continue
            }
            guard ["-c", "--config", "-d", "--data", "-H", "--header"].contains(argument) else {
                return .misused("unknown option \(argument)")
            }
            guard let value = rest.popFirst() else { return .misused("\(argument) needs a value") }
            switch argument {
            case "-c", "--config": file = value
            case "-d", "--data": request.body = Array(value.utf8)
            default:
                guard let header = header(value) else {
                    return .misused("a header is written \"name: value\", not \(Diagnostic.quote(value))")
                }
                request.headers.append(header)
            }
        }
        guard words.count == 2, FieldName.isValid(words[0]), words[1].hasPrefix("/"), isVisible(words[1]) else {
            return .misused("explain takes a method and a path, like: martlet explain POST /pkg.Service/Method")
        }
        (request.method, request.target) = (words[0].uppercased(), words[1])
        return .explain(request, file: file)
    }

    private static func header(_ text: String) -> (name: String, value: String)? {
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
