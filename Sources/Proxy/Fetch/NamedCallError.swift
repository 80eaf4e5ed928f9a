public import Events

/// Why a named call came to no request.
public enum NamedCallError: Error, Equatable, Sendable {
    /// A file cannot be read, or is too large (EFBIG).
    case file(String, SystemError)
    /// Calls hold all that `limits.memory` allows, so that no file is read.
    case shortOfMemory
    /// With what came from the call, the path or the query is none that may be sent.
    case target

    /// A parameter has no value that may stand where it goes.
    case argument(String, String)

    /// Whether whoever sent the values has to send others.
    public var isOfCaller: Bool {
        switch self {
        case .target, .argument: true
        case .file, .shortOfMemory: false
        }
    }

    /// The error in words, without anything that came from the call.
    public var text: String {
        switch self {
        case .file(let path, let error): "cannot read \(path): \(error.text)"
        case .shortOfMemory: "Martlet has reached its memory limit (limits.memory)"
        case .argument(let name, let problem): "the parameter \(name) \(problem)"
        case .target: "the rendered path is not a valid request path"
        }
    }
}
