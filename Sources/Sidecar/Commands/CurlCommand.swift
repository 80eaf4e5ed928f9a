internal import Bytes

/// `martlet curl`: a line for the shell that repeats a call.
struct CurlCommand {
    private let file: String?
    private let address: String?
    private let path: String

    init(_ invocation: Invocation) {
        (file, address) = (invocation[.config], invocation[.admin])
        path = Self.path(invocation.operands[0], view: invocation[.view], tool: invocation[.tool])
    }

    /// The page that has the line.
    static func path(_ id: String, view: String?, tool: String?) -> String {
        let parameters = [("view", view), ("with", tool)].compactMap { name, value in
            value.map { "\(name)=\(AdminQuery.escaped($0))" }
        }
        let query = parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")
        return "/calls/\(AdminQuery.escaped(id))/curl\(query)"
    }

    /// Prints the line.
    func run() -> Exit {
        guard let targets = AdminCommand.targets(file: file, named: address) else {
            return address == nil ? .configuration : .usage
        }
        guard let text = AdminCommand.text("GET", path, targets) else { return .failure }
        Terminal.print(ShownText.command(text))
        return .success
    }
}
