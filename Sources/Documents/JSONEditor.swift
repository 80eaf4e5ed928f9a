internal import Bytes

/// Writes a document again, with changes in some places.
struct JSONEditor {
    enum Action {
        case replace([UInt8])
        case set([UInt8])
        case remove
    }

    /// The rest of the way to a place.
    struct Path {
        let names: ArraySlice<String>
        /// Other names for the same.
        let others: ArraySlice<String>

        var isEnd: Bool { names.isEmpty }
        fileprivate var rest: Path { Path(names: names.dropFirst(), others: others.dropFirst()) }
        fileprivate var token: String { names.first ?? "" }

        fileprivate func matches(nameAt index: Int, of document: JSONDocument) -> Bool {
            let (name, other) = (token, others.first ?? "")
            return name == "*" || document.isName(name, at: index)
                || !other.isSame(as: name) && document.isName(other, at: index)
        }
    }

    private let action: Action
    private let document: JSONDocument
    private let queue: ByteQueue
    /// Whether each place of `set` could be made.
    private(set) var isSet = true

    init(_ action: Action, of document: JSONDocument, to queue: ByteQueue) {
        (self.action, self.document, self.queue) = (action, document, queue)
    }

    /// Writes the value at an index, with changes in these places of it.
    mutating func write(_ index: Int, _ paths: [Path]) {
        guard !paths.isEmpty else { return document.append(index, to: queue) }
        if paths.contains(where: \.isEnd) {
            switch action {
            case .replace(let json), .set(let json): return queue.append(json)
            case .remove: return
            }
        }
        switch document.value(at: index) {
        case .array: writeItems(index, paths)
        case .object: writeMembers(index, paths)
        case .null:
            guard case .set(let json) = action else { return queue.append("null") }
            appendNew(paths[0], json)
        default:
            if case .set = action { isSet = false }
            document.append(index, to: queue)
        }
    }

    private mutating func writeItems(_ index: Int, _ paths: [Path]) {
        let numbers = paths.map { JSONPointer.number($0.token) }
        let parts = document.parts(of: index)
        var (part, number, isFirst) = (parts.lowerBound, 0, true)
        queue.append("[")
        while part < parts.upperBound {
            let inner = paths.indices.compactMap { place in
                paths[place].token == "*" || numbers[place] == number ? paths[place].rest : nil
            }
            if !removes(inner) {
                if !isFirst { queue.append(",") }
                isFirst = false
                write(part, inner)
            }
            (part, number) = (document.next(after: part), number + 1)
        }
        queue.append("]")
    }

    private mutating func writeMembers(_ index: Int, _ paths: [Path]) {
        let parts = document.parts(of: index)
        var (part, isFirst, isFound) = (parts.lowerBound, true, false)
        queue.append("{")
        while part < parts.upperBound {
            let inner = paths.compactMap { $0.matches(nameAt: part, of: document) ? $0.rest : nil }
            if !removes(inner) {
                if !isFirst { queue.append(",") }
                isFirst = false
                document.append(part, to: queue)
                queue.append(":")
                write(part + 1, inner)
            }
            isFound = isFound || !inner.isEmpty
            part = document.next(after: part + 1)
        }
        if case .set(let json) = action, !isFound, paths[0].token != "*" {
            if !isFirst { queue.append(",") }
            appendMember(paths[0], json)
        }
        queue.append("}")
    }

    private func removes(_ paths: [Path]) -> Bool {
        if case .remove = action { paths.contains(where: \.isEnd) } else { false }
    }

    /// Appends objects up to a place, and the value in it.
    private func appendNew(_ path: Path, _ json: [UInt8]) {
        guard !path.isEnd else { return queue.append(json) }
        queue.append("{")
        if path.token != "*" { appendMember(path, json) }
        queue.append("}")
    }

    private func appendMember(_ path: Path, _ json: [UInt8]) {
        queue.append(json: path.token)
        queue.append(":")
        appendNew(path.rest, json)
    }
}
