package import RPC
internal import Time

/// Why the types of an upstream could not be had by reflection.
package enum ReflectionError: Error, Equatable, Sendable {
    /// No connection, or a stream that broke off; in words.
    case connection(String)
    /// It took longer than `ReflectionSession.timeout`.
    case timeout
    /// The upstream has no service for it, of neither version.
    case unimplemented
    /// The upstream ended the call with an error.
    case ended(RPCCode, String)
    /// The response is not gRPC; in words.
    case notGRPC(String)
    /// The stream ended before the last response.
    case endedEarly
    /// A response, or a file in one, is not in the wire format of Protobuf.
    case malformed
    /// A response is not of the sort that was asked for, or was not asked for at all.
    case unexpected
    /// The upstream reports an error of what was asked for.
    case rejected(String, code: UInt64, String)
    /// There are no services but those of reflection.
    case noServices
    /// A file imports another that the upstream does not know.
    case missingImport(String)
    /// The files are too large together, or one response is.
    case tooLarge
    /// There are too many files.
    case tooManyFiles
    /// There are too many definitions in the files.
    case tooManyDefinitions
    /// There are too many extensions, and ranges for them.
    case tooManyExtensions
    /// The full names of the definitions, or those that are looked up, are too long together.
    case longNames
    /// There are too many services.
    case tooManyServices
    /// The files do not fit together; in words.
    case types(String)

    /// The error in words.
    package var text: String {
        switch self {
        case .connection(let text): text
        case .timeout: "reflection took longer than \(ReflectionSession.timeout.seconds) s"
        case .unimplemented: "it has no reflection service, neither grpc.reflection.v1 nor grpc.reflection.v1alpha"
        case .ended(let code, let message):
            "the reflection call ended with \(code.name)" + (message.isEmpty ? "" : ": \(message.shown(256))")
        case .notGRPC(let text): "the response to the reflection call is not gRPC: \(text)"
        case .endedEarly: "the reflection call ended before the last response"
        case .malformed: "a reflection response is not valid Protobuf"
        case .unexpected: "a reflection response does not match its request"
        case .rejected(let what, let code, let message):
            "the reflection of \(what.shown(256)) failed with code \(code)"
                + (message.isEmpty ? "" : ": \(message.shown(256))")
        case .noServices: "its reflection lists no services"
        case .missingImport(let name): "its reflection does not know the imported file \(name.shown(256))"
        case .tooLarge: "its reflection returns more than \(ReflectionSession.maxBytes >> 20) MiB"
        case .tooManyFiles: "its reflection returns more than \(ReflectionSession.maxFiles) files"
        case .tooManyDefinitions:
            "its reflection returns more than \(DescriptorCost.maxDefinitions) definitions"
        case .tooManyExtensions: "its reflection returns too many extensions and ranges for them"
        case .longNames: "the names in its reflection are too long, or too deep"
        case .tooManyServices: "its reflection lists more than \(ReflectionSession.maxServices) services"
        case .types(let text): "the types of its reflection are not valid: \(text)"
        }
    }
}
