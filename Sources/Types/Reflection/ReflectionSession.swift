internal import Bytes
package import Time

/// The files that reflection has brought.
package struct ReflectedFiles: Equatable, Sendable {
    /// The files, by their names.
    package let files: [DescriptorFile]
    /// The services that the server lists, but has no file of.
    package let leftOut: [String]
}

/// What is asked on one stream of the reflection service, and what has come of it.
///
/// Pure: whoever has the stream sends what `nextRequest` returns and hands over what is received. First come all services,
/// then the file of each, then the imports that are missing. Several requests are under way at a time, since an upstream may
/// be far away; the service responds in order.
package struct ReflectionSession {
    /// How long all of it may take.
    package static let timeout = 10 * Duration.second
    /// How many bytes all files may have.
    package static let maxBytes = 16 << 20
    /// How many files there may be.
    package static let maxFiles = 2000
    /// How many services there may be.
    package static let maxServices = 10_000
    /// How many requests may be under way.
    private static let window = 16
    /// The code of a status that says that something is not there.
    private static let notFound: UInt64 = 5

    private var waiting: [ReflectionQuery] = [.services]
    private var asked: [ReflectionQuery] = []
    /// The names of the files that are known from elsewhere.
    private let otherFiles: Set<String>
    /// The names of the files that were asked for.
    private var askedFiles: Set<String> = []
    /// The services that some file defines.
    private var knownServices: Set<String>
    private var files: [String: DescriptorFile] = [:]
    private var size = 0
    private var cost = DescriptorCost()
    private var leftOut: [String] = []
    private var lack: ReflectionError?

    /// Begins; `known` are files of other origin, which are preferred to those of the server.
    package init(known: [DescriptorFile] = []) {
        otherFiles = Set(known.map(\.name))
        knownServices = Set(known.flatMap(\.services))
    }

    /// Whether everything has come, if `nextRequest` has returned none.
    package var isComplete: Bool { waiting.isEmpty && asked.isEmpty }

    /// The next message to send; none if there is nothing to ask before a response comes.
    package mutating func nextRequest() -> [UInt8]? {
        while asked.count < Self.window, let query = waiting.popLast() {
            if case .symbol(let name) = query, knownServices.contains(name) { continue }
            if case .file(let name) = query, files[name] != nil { continue }
            asked.append(query)
            return query.bytes
        }
        return nil
    }

    /// Takes in a message of the server.
    ///
    /// - Throws: an error after which the session is over.
    package mutating func receive(_ payload: Span<UInt8>) throws(ReflectionError) {
        guard !asked.isEmpty else { throw .unexpected }
        let query = asked.removeFirst()
        switch (query, try ReflectionResponse.read(payload)) {
        case (.services, .services(let names)): try list(names)
        case (.symbol(let name), .files(let new)):
            try add(new)
            // A file that does not define the service is of no use, and shall not be asked for again.
            if !knownServices.contains(name) { leftOut.append(name) }
        case (.file(let name), .files(let new)):
            try add(new)
            guard files[name] != nil else { throw .missingImport(name) }
        case (.symbol(let name), .error(code: Self.notFound, let message)):
            leftOut.append(name)
            if lack == nil { lack = .rejected(name, code: Self.notFound, message) }
        case (.file(let name), .error(code: Self.notFound, _)): throw .missingImport(name)
        case (_, .error(let code, let message)): throw .rejected(query.name, code: code, message)
        default: throw .unexpected
        }
    }

    /// What has come.
    ///
    /// - Throws: an error if there is nothing.
    package func result() throws(ReflectionError) -> ReflectedFiles {
        guard !files.isEmpty || leftOut.isEmpty else { throw lack ?? .noServices }
        let sorted = files.values.sorted { $0.name < $1.name }
        return ReflectedFiles(files: sorted, leftOut: leftOut.sorted())
    }

    private mutating func list(_ names: [String]) throws(ReflectionError) {
        guard names.count <= Self.maxServices else { throw .tooManyServices }
        let services = Set(names.filter { !$0.hasPrefix("grpc.reflection.") })
        guard !services.isEmpty else { throw .noServices }
        waiting = services.sorted(by: >).map { .symbol($0) }
    }

    private mutating func add(_ new: [[UInt8]]) throws(ReflectionError) {
        var imports: [String] = []
        for bytes in new {
            // Before names are made of it, which a few bytes may make long.
            var cost = self.cost
            try cost.add(bytes.span)
            guard let file = DescriptorFile(bytes) else { throw .malformed }
            guard files[file.name] == nil, !otherFiles.contains(file.name) else { continue }
            size += bytes.count
            guard size <= Self.maxBytes else { throw .tooLarge }
            self.cost = cost
            files[file.name] = file
            guard files.count <= Self.maxFiles else { throw .tooManyFiles }
            knownServices.formUnion(file.services)
            imports += file.imports
        }
        for name in imports where files[name] == nil && !otherFiles.contains(name) {
            if askedFiles.insert(name).inserted { waiting.append(.file(name)) }
        }
        guard askedFiles.count <= Self.maxFiles else { throw .tooManyFiles }
    }
}

extension ReflectionQuery {
    /// What is asked for, in words.
    fileprivate var name: String {
        switch self {
        case .services: "the list of services"
        case .symbol(let name), .file(let name): name
        }
    }
}
