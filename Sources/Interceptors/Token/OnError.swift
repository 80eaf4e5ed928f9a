internal import Configuration
internal import Proxy
internal import RPC

/// What a call gets when its token cannot be had.
enum OnError: Sendable {
    case proceed
    case reject(RPCCode, message: String?)

    static let options = [
        Option("code", .choice(RPCCode.errorNames), default: "unavailable", "The code of the rejection."),
        Option("message", .string, "The message of the rejection. The default says what went wrong."),
    ]

    init(_ section: Section) {
        guard let node = section.node("on_error") else {
            self = .reject(.unavailable, message: nil)
            return
        }
        if node.text == "continue" {
            self = .proceed
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
        case .proceed: .next
        case .reject(let code, let message): .reject(RPCError(code, message ?? cause))
        }
    }
}
