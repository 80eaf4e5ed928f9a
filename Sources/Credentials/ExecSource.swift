internal import Bytes
public import Time

/// A program whose output is a credential; equal if its arguments are, byte by byte.
public struct ExecSource: Hashable, Sendable {
    /// Its path and its arguments.
    package let command: [String]
    /// Variables beside those of this process.
    package let environment: [String: String]
    /// What it writes.
    @NotHashed package var response: CredentialResponse
    /// How long it may run; nil is without end.
    package let timeout: Duration?

    /// Takes a program and its arguments, and variables beside those of this process.
    public init(command: [String], environment: [String: String], response: CredentialResponse, timeout: Duration?) {
        (self.command, self.environment) = (command, environment)
        (self.response, self.timeout) = (response, timeout)
    }

    public static func == (left: ExecSource, right: ExecSource) -> Bool {
        left.command.elementsEqual(right.command) { $0.isSame(as: $1) } && left.environment == right.environment
            && left.response == right.response && left.timeout == right.timeout
    }
}
