internal import Bytes
internal import Documents

/// `martlet tap`: calls as they happen.
struct TapCommand {
    /// What is printed.
    private enum Form {
        case text, json
        case line(ShellTool)
    }

    private let file: String?
    private let address: String?
    private let path: String
    private let form: Form
    /// Whether headers are printed.
    private let showsHeaders: Bool
    /// After how many calls it ends.
    private let count: Int?

    init(_ invocation: Invocation) throws(UsageError) {
        (file, address) = (invocation[.config], invocation[.admin])
        showsHeaders = invocation.has(.headers)
        form = Self.form(invocation[.output] ?? "text")
        count = try invocation[.number].map { text throws(UsageError) in
            guard let number = Int(text), number > 0 else {
                throw UsageError("-n cannot be \(text); write a number of calls")
            }
            return number
        }
        let filters: [(CommandOption, String)] = [
            (.service, "service"), (.method, "method"), (.path, "path"), (.onlyCode, "code"), (.peer, "peer"),
            (.rate, "rate"),
        ]
        var parameters = filters.flatMap { option, name in
            invocation.values(of: option).map { "\(name)=\(AdminQuery.escaped($0))" }
        }
        if invocation.has(.messages) { parameters.append("messages=true") }
        path = "/tap" + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    }

    private static func form(_ text: String) -> Form {
        text == "json" ? .json : ShellTool(rawValue: text).map(Form.line) ?? .text
    }

    /// Prints what happens, until it is interrupted or the daemon stops.
    func run() -> Exit {
        guard let targets = AdminCommand.targets(file: file, named: address) else {
            return address == nil ? .configuration : .usage
        }
        var left = count ?? .max
        let result = AdminClient.follow(path, firstOf: targets) { line in
            guard let event = try? JSON.parse(Array(line).span) else { return true }
            print(line, event, targets)
            if event["event"]?.string == "end" { left -= 1 }
            return left > 0
        }
        guard AdminCommand.text(result, targets) != nil else { return .failure }
        return .success
    }

    private func print(_ line: ArraySlice<UInt8>, _ event: JSONValue, _ targets: [SocketAddress]) {
        switch form {
        case .json: Terminal.write(line + [UInt8(ascii: "\n")])
        case .text:
            if let text = TapText.line(event) { Terminal.print(ShownText.escaped(text)) }
            if showsHeaders { for text in TapText.headers(event) { Terminal.print(ShownText.escaped(text)) } }
        case .line(let tool):
            guard event["event"]?.string == "end", let id = event["call"]?.string else { return }
            let path = CurlCommand.path(id, view: nil, tool: tool.rawValue)
            if let text = AdminCommand.text("GET", path, targets) { Terminal.print(ShownText.command(text)) }
        }
    }
}
