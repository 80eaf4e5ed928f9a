internal import CUpb

/// Adds the files of descriptor sets to a pool, each behind those that it imports: some tools write them in another order.
@safe
struct TypeLinker {
    /// A file that has not been added yet.
    @safe
    private struct File {
        let name: String
        let source: String
        let set: OpaquePointer
        let index: Int
        let imports: [String]
    }

    private enum Progress {
        case waiting, underWay, added, failed
    }

    /// What a set may take in memory while it is read, for each of its bytes.
    private static let expansion = 64
    /// What one may take that comes from elsewhere than a file of the operator.
    private static let maxForeign = 256 << 20

    private static let howTo = "make it with protoc --include_imports --descriptor_set_out"

    private let pool: OpaquePointer
    private var arenas: [MessageArena] = []
    private var files: [File] = []
    private var places: [String: Int] = [:]
    private var progress: [Progress] = []
    private var added: [UnsafeRawPointer] = unsafe []
    private var problems: [TypeSetError.Problem] = []
    /// After a file that it rejects a pool is good for nothing: what upb takes out of its tables again leaves them broken.
    private var poolIsBroken = false

    init(_ pool: OpaquePointer) {
        unsafe self.pool = pool
    }

    /// Reads a set.
    mutating func add(_ set: DescriptorSet) {
        let limit = set.bytes.count * Self.expansion + 1 << 20
        let arena = MessageArena(limit: set.isFile ? limit : min(limit, Self.maxForeign))
        let read = unsafe set.bytes.withUnsafeBytes { unsafe martlet_set_read($0.baseAddress, $0.count, arena.inside) }
        guard let read = unsafe read, unsafe martlet_set_count(read) > 0 else {
            let text = set.isFile ? "not a FileDescriptorSet; \(Self.howTo)" : "a file is not a FileDescriptorProto"
            problems.append(.init(source: set.source, text: text))
            return
        }
        arenas.append(arena)
        for index in 0..<(unsafe martlet_set_count(read)) {
            let name = unsafe Text(martlet_set_name(read, index)).string
            if let place = places[name] {
                unsafe compare(read, index, with: files[place], set.source, arena)
                continue
            }
            places[name] = files.count
            let imports = unsafe (0..<martlet_set_dependency_count(read, index)).map {
                unsafe Text(martlet_set_dependency(read, index, $0)).string
            }
            unsafe files.append(File(name: name, source: set.source, set: read, index: index, imports: imports))
        }
    }

    /// Reports a file that says something else than one of the same name; those of Protobuf itself differ with its versions.
    private mutating func compare(
        _ set: OpaquePointer,
        _ index: Int,
        with file: File,
        _ source: String,
        _ arena: MessageArena
    ) {
        let isOwn = file.name.hasPrefix("google/protobuf/")
        guard !isOwn, unsafe !martlet_set_is_same(set, index, file.set, file.index, arena.inside) else { return }
        let text = "\(file.name.shown(256)) is not the same as in \(file.source); use sets of one version of it"
        problems.append(.init(source: source, text: text))
    }

    /// Adds all files to the pool.
    ///
    /// - Returns: their definitions.
    /// - Throws: everything that is wrong with the files.
    mutating func link() throws(TypeSetError) -> [UnsafeRawPointer] {
        progress = Array(repeating: .waiting, count: files.count)
        for index in files.indices { visit(index) }
        guard problems.isEmpty else { throw TypeSetError(problems: problems) }
        return unsafe added
    }

    /// Adds a file behind its imports.
    ///
    /// Not by recursion: a set is input, and may have a chain of imports of any length.
    private mutating func visit(_ first: Int) {
        guard progress[first] == .waiting else { return }
        var stack = [begin(first)]
        while let (index, imports) = stack.popLast() {
            guard let name = imports.first else {
                finish(index)
                continue
            }
            stack.append((index, imports.dropFirst()))
            if let next = importedFile(name, by: index) { stack.append(begin(next)) }
        }
    }

    private mutating func begin(_ index: Int) -> (Int, ArraySlice<String>) {
        progress[index] = .underWay
        return (index, files[index].imports[...])
    }

    /// The file that is to be added before the one that imports it, if it is not there yet.
    private mutating func importedFile(_ name: String, by index: Int) -> Int? {
        let file = files[index].name.shown(256)
        guard let place = places[name] else {
            fail(
                index,
                "\(file) imports \(name.shown(256)), which is in none of the sets; \(Self.howTo)"
            )
            return nil
        }
        if progress[place] == .underWay { fail(index, "\(file) imports \(name.shown(256)), which imports it in turn") }
        return progress[place] == .waiting ? place : nil
    }

    private mutating func finish(_ index: Int) {
        guard progress[index] == .underWay else { return }
        let file = files[index]
        guard !poolIsBroken, file.imports.allSatisfy({ progress[places[$0]!] == .added }) else {
            progress[index] = .failed
            return
        }
        var problem = [CChar](repeating: 0, count: 512)
        guard let definition = unsafe martlet_pool_add(pool, file.set, file.index, &problem, problem.count) else {
            poolIsBroken = true
            let text = String(decoding: problem.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return fail(index, "\(file.name.shown(256)): \(text.shown(512))")
        }
        progress[index] = .added
        unsafe added.append(definition)
    }

    private mutating func fail(_ index: Int, _ text: String) {
        progress[index] = .failed
        problems.append(.init(source: files[index].source, text: text))
    }
}
