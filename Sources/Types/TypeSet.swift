internal import Bytes
internal import CUpb

/// What is known of messages and services: the definitions of descriptor sets, checked and linked.
///
/// Made once, on the main thread, and never changed: any thread may read it.
@safe
public final class TypeSet: @unchecked Sendable {
    /// The services, by their names.
    public private(set) var services: [ServiceType] = []
    private(set) var messages: [MessageType] = []
    /// The methods by their paths, which are sorted.
    private var methods: [MethodType] = []
    /// The places in `messages` of upb's definitions.
    private var indexes: [UnsafeRawPointer: Int] = unsafe [:]
    /// Whether any message has a field that must be there.
    private(set) var hasRequiredFields = false
    let pool: OpaquePointer
    /// What upb does once.
    private static let isPrepared: Void = martlet_prepare()

    /// Links the files of `sets`.
    ///
    /// They may be in any order. Two files with one name have to be the same; of those of Protobuf itself the first counts.
    ///
    /// - Throws: what is wrong with the sets, all of it.
    public init(_ sets: [DescriptorSet]) throws(TypeSetError) {
        Self.isPrepared
        guard let pool = unsafe martlet_pool_new() else { fatalError("out of memory") }
        unsafe self.pool = pool
        var linker = unsafe TypeLinker(pool)
        for set in sets { linker.add(set) }
        let files = try unsafe linker.link()
        unsafe files.forEach { file in
            for index in 0..<(unsafe martlet_file_message_count(file)) {
                unsafe add(message: martlet_file_message(file, index))
            }
        }
        for message in messages { message.link(self) }
        try checkFields(sets)
        hasRequiredFields = messages.contains { $0.fields.contains(where: \.isRequired) }
        unsafe files.forEach { file in
            for index in 0..<(unsafe martlet_file_service_count(file)) {
                unsafe services.append(ServiceType(martlet_file_service(file, index), self))
            }
        }
        services.sort { $0.name < $1.name }
        methods = services.flatMap(\.methods).sorted { $0.path.lexicographicallyPrecedes($1.path) }
    }

    deinit {
        unsafe martlet_pool_free(pool)
    }

    /// Checks what upb takes for granted.
    private func checkFields(_ sets: [DescriptorSet]) throws(TypeSetError) {
        for message in messages {
            guard let problem = Self.problem(of: message) else { continue }
            throw TypeSetError(problems: [.init(source: sets.last?.source ?? "", text: problem)])
        }
    }

    /// What is wrong with the fields of a message.
    ///
    /// A list cannot be required. Of the entries of a map upb takes the first field for the key and the second for the value, and
    /// reads and writes them by the numbers 1 and 2, whatever their definition says.
    private static func problem(of message: MessageType) -> String? {
        let fields = message.fields
        if let field = fields.first(where: { $0.isRequired && $0.shape != .single }) {
            return "the field \(field.name.shown) of \(message.name.shown) is a list, which cannot be required"
        }
        guard message.isEntry, fields.map(\.number) != [1, 2] || fields.map(\.index) != [0, 1] else { return nil }
        return "the entries of the map \(message.name.shown) do not have the fields key = 1 and value = 2"
    }

    private func add(message definition: UnsafeRawPointer) {
        unsafe indexes[definition] = messages.count
        unsafe messages.append(MessageType(definition))
        for index in 0..<(unsafe martlet_message_nested_count(definition)) {
            unsafe add(message: martlet_message_nested(definition, index))
        }
    }

    /// The version of upb.
    public static var libraryVersion: String { unsafe String(cString: martlet_upb_version()) }

    /// The method that a request with this path calls.
    public func method(path: Span<UInt8>) -> MethodType? {
        var (low, high) = (0, methods.count)
        while low < high {
            let middle = (low + high) / 2
            // Not by a copy of the method, which has references to much.
            let other = methods[middle].path
            switch Self.order(other.span, path) {
            case 0: return methods[middle]
            case ..<0: low = middle + 1
            default: high = middle
            }
        }
        return nil
    }

    /// The full names of all messages.
    public var messageNames: [String] { messages.map(\.name) }

    /// The message with this full name, as `google.protobuf.Timestamp`.
    public func message(named name: String) -> MessageType? {
        let bytes = Array(name.utf8)
        return message(named: bytes.span)
    }

    func message(named name: Span<UInt8>) -> MessageType? {
        let definition = unsafe name.withUnsafeBytes { bytes in
            unsafe martlet_pool_message(pool, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        return unsafe definition.map { unsafe message($0) }
    }

    /// The extension with this full name.
    func extensionField(named name: Span<UInt8>) -> FieldType? {
        let definition = unsafe name.withUnsafeBytes { bytes in
            unsafe martlet_pool_extension(pool, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        return unsafe definition.map { unsafe FieldType($0, self) }
    }

    /// The type that upb has this definition of.
    func message(_ definition: UnsafeRawPointer) -> MessageType {
        guard let index = unsafe indexes[definition] else { fatalError("a message that is in no file of the set") }
        return messages[index]
    }

    private static func order(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Int {
        for index in 0..<min(one.count, other.count) where one[index] != other[index] {
            return one[index] < other[index] ? -1 : 1
        }
        return one.count - other.count
    }
}
