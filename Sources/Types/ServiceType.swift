internal import Bytes
internal import CUpb

/// A service.
public struct ServiceType: Sendable {
    /// The full name, as `connectrpc.eliza.v1.ElizaService`.
    public let name: String
    /// The methods, as the definition has them.
    public let methods: [MethodType]

    init(_ definition: UnsafeRawPointer, _ types: TypeSet) {
        let name = unsafe Text(martlet_service_name(definition)).string
        self.name = name
        methods = unsafe (0..<martlet_service_method_count(definition)).map {
            unsafe MethodType(martlet_service_method(definition, $0), of: name, types)
        }
    }
}

/// A method of a service.
@safe
public struct MethodType: Sendable {
    private nonisolated(unsafe) let definition: UnsafeRawPointer
    private let service: String
    /// The name within the service.
    public let name: String
    /// The path of requests that call it, as `/pkg.Service/Method`.
    public let path: [UInt8]
    /// The type of its request messages.
    public let request: MessageType
    /// The type of its response messages.
    public let response: MessageType
    /// Whether a request is a stream of messages.
    public let requestStreams: Bool
    /// Whether a response is a stream of messages.
    public let responseStreams: Bool

    /// Whether the definition says that a call changes nothing (`idempotency_level = NO_SIDE_EFFECTS`).
    public let hasNoSideEffects: Bool
    /// Whether a request or a response is a stream of messages.
    public var streams: Bool { requestStreams || responseStreams }

    /// The name with that of its service, as `pkg.Service/Method`.
    public var fullName: String { "\(service)/\(name)" }

    /// The paths by which the method can be called; those that are not valid are left out.
    public private(set) var restBindings: [RESTBinding] = []

    init(_ definition: UnsafeRawPointer, of service: String, _ types: TypeSet) {
        unsafe self.definition = definition
        self.service = service
        name = unsafe Text(martlet_method_name(definition)).string
        path = Array("/\(service)/\(name)".utf8)
        request = unsafe types.message(martlet_method_input(definition))
        response = unsafe types.message(martlet_method_output(definition))
        hasNoSideEffects = unsafe martlet_method_has_no_side_effects(definition)
        requestStreams = unsafe martlet_method_client_streams(definition)
        responseStreams = unsafe martlet_method_server_streams(definition)
        restBindings = httpRules.compactMap { try? RESTBinding($0, self) }
    }

    /// The paths by which the method can be called, as its options have them.
    var httpRules: [HTTPRule] {
        let arena = MessageArena(limit: 1 << 20)
        let options = unsafe Text(martlet_method_options(definition, arena.inside))
        return HTTPRule.all(in: options.bytes.array)
    }
}
