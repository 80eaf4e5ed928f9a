/// Why a message could not be read or written.
public struct MessageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is to blame.
    public enum Reason: Sendable, Equatable {
        /// The message itself.
        case invalid
        /// Its size, or the memory that it takes.
        case tooLarge
    }

    /// What is to blame.
    public let reason: Reason
    private let problem: String
    /// The type that the problem is about.
    private var type: String?
    /// The steps to the place, innermost first.
    private var steps: [String] = []

    init(_ problem: String, _ reason: Reason = .invalid) {
        self.problem = problem
        self.reason = reason
    }

    /// The arena has no room.
    static var memory: MessageError { MessageError("the message takes too much memory", .tooLarge) }
    static var depth: MessageError { MessageError("messages are nested more than \(MessageError.maxDepth) deep") }

    /// How deep messages may be nested, the outermost included.
    static let maxDepth = 100
    /// As much of a path as helps.
    private static let maxSteps = 16

    /// The same error, in a message of this type unless it is one of a message within.
    func of(_ type: MessageType) -> MessageError {
        var error = self
        if error.type == nil { error.type = type.name }
        return error
    }

    /// The same error, behind one more step: a name or a position.
    func within(_ step: String) -> MessageError {
        var error = self
        error.steps.append(step)
        return error
    }

    /// The pointer (RFC 6901) to the object that has the problem.
    private var pointer: String {
        let shown = steps.suffix(Self.maxSteps).reversed().map { "/" + Self.escaped($0) }.joined()
        return steps.count > Self.maxSteps ? shown + "/…" : shown
    }

    private static func escaped(_ step: String) -> String {
        step.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
    }

    /// What is wrong, in which type, and where, as `shop.v1.Item: no field "colour" at /items/0`.
    public var description: String {
        (type.map { $0 + ": " } ?? "") + problem + (steps.isEmpty ? "" : " at " + pointer)
    }
}
