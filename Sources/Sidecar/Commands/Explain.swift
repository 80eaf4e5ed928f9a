internal import Configuration
internal import Events
internal import Proxy

/// `martlet explain`: says what the configuration does with a request, without sending anything.
enum Explain {
    static func run(_ request: ExplainedRequest, file: String?, with registry: Registry) -> Exit {
        let file = ConfigurationFile.find(file, registry)
        do throws(ConfigurationFile.Refusal) {
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
            guard let value = rest.popFirst() else { return .misused("\(argument) needs a value") }
            switch argument {
            case "-c", "--config": file = value
            case "-d", "--data": request.body = Array(value.utf8)
            case "-H", "--header":
                guard let colon = value.firstIndex(of: ":"), colon > value.startIndex else {
                    return .misused("a header is written \"name: value\", not \(value)")
                }
                let text = value[value.index(after: colon)...].drop { $0 == " " }
                request.headers.append((value[..<colon].lowercased(), String(text)))
            default: return .misused("unknown option \(argument)")
            }
        }
        guard words.count == 2, words[1].hasPrefix("/") else {
            return .misused("explain takes a method and a path, like: martlet explain POST /pkg.Service/Method")
        }
        (request.method, request.target) = (words[0].uppercased(), words[1])
        return .explain(request, file: file)
    }
}
