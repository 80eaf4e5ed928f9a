internal import Bytes

/// The paths by which methods can be called, found by the path of a request.
///
/// Of two that a path fits, the one counts that says more: a name before `*`, and that before `**`.
public final class RESTTable: Sendable {
    /// What a path leads to.
    public enum Match {
        /// No method.
        case none
        /// None by this HTTP method, but by others: one of the methods, and how they are called.
        case otherMethods(RESTBinding, [String])
        /// A method, with the parts of the path that are variables.
        case found(RESTBinding, variables: [Range<Int>])
    }

    /// A segment behind others.
    private struct Node {
        var literals: [[UInt8]: Int] = [:]
        var one: Int?
        var rest: Int?
        /// The bindings that end here.
        var bindings: [Int] = []
    }

    /// The bindings, in the order of services and methods.
    public let bindings: [RESTBinding]
    private let nodes: [Node]

    /// Makes the table of some services.
    ///
    /// - Parameters:
    ///   - types: the types that are known.
    ///   - services: the full names of the services; those that are not there are passed over.
    /// - Throws: what is wrong with the paths, all of it.
    public init(_ types: TypeSet, services: [String]) throws(TypeSetError) {
        var (problems, bindings) = ([TypeSetError.Problem](), [RESTBinding]())
        for method in types.services.filter({ services.contains($0.name) }).flatMap(\.methods) {
            for rule in method.httpRules {
                do throws(TypeSetError.Problem) {
                    bindings.append(try RESTBinding(rule, method))
                } catch {
                    problems.append(error)
                }
            }
        }
        var nodes = [Node()]
        for (index, binding) in bindings.enumerated() {
            let node = Self.node(of: binding.template, in: &nodes)
            for other in nodes[node].bindings.map({ bindings[$0] })
            where other.template.normalVerb == binding.template.normalVerb && other.httpMethod == binding.httpMethod {
                let (one, two) = (other.method.fullName, binding.method.fullName)
                let text = "\(one) and \(two) are called by the same path: \(other.text) and \(binding.text)"
                problems.append(.init(source: "", text: text))
            }
            nodes[node].bindings.append(index)
        }
        guard problems.isEmpty else { throw TypeSetError(problems: problems) }
        (self.bindings, self.nodes) = (bindings, nodes)
    }

    /// The node of a template, made if it is not there.
    private static func node(of template: PathTemplate, in nodes: inout [Node]) -> Int {
        var node = 0
        for segment in template.segments {
            let next =
                switch segment {
                case .literal(let name): nodes[node].literals[URLPath.normal(part: name.span)]
                case .one: nodes[node].one
                case .rest: nodes[node].rest
                }
            if let next {
                node = next
                continue
            }
            let new = nodes.count
            nodes.append(Node())
            switch segment {
            case .literal(let name): nodes[node].literals[URLPath.normal(part: name.span)] = new
            case .one: nodes[node].one = new
            case .rest: nodes[node].rest = new
            }
            node = new
        }
        return node
    }

    /// Whether a method of the service has a path.
    public func has(service: String) -> Bool {
        bindings.contains { $0.method.fullName.hasPrefix(service + "/") }
    }

    // MARK: Lookup

    /// Whether the first segment of a path is that of a template; allocates next to nothing.
    public func mayMatch(_ path: Span<UInt8>) -> Bool {
        guard path.count > 0, path[0] == UInt8(ascii: "/") else { return false }
        if nodes[0].one != nil || nodes[0].rest != nil { return true }
        let end = path.firstIndex(of: UInt8(ascii: "/"), from: 1) ?? path.count
        let colon = path.firstIndex(of: UInt8(ascii: ":"), from: 1) ?? path.count
        if nodes[0].literals[URLPath.normal(part: path.extracting(1..<end))] != nil { return true }
        return colon < end && nodes[0].literals[URLPath.normal(part: path.extracting(1..<colon))] != nil
    }

    /// What a request with this HTTP method and path calls.
    public func match(_ method: Span<UInt8>, _ path: Span<UInt8>) -> Match {
        guard path.count > 0, path[0] == UInt8(ascii: "/") else { return .none }
        var search = Search(method: method.array, path: path.array)
        if let colon = search.lastColon {
            let whole = search.cut(at: colon)
            if let found = find(&search, 0, 0) { return result(found, search) }
            search.restore(whole)
        }
        if let found = find(&search, 0, 0) { return result(found, search) }
        guard let other = search.others.first else { return .none }
        let methods = Set(search.others.map { String(decoding: bindings[$0].httpMethod, as: UTF8.self) })
        return .otherMethods(bindings[other], methods.sorted())
    }

    private func result(_ index: Int, _ search: Search) -> Match {
        let binding = bindings[index]
        return .found(binding, variables: binding.variables.map { search.range(of: $0.segments, in: binding.template) })
    }

    /// The binding that the segments from a place on lead to, from a node on.
    private func find(_ search: inout Search, _ node: Int, _ place: Int) -> Int? {
        let node = nodes[node]
        if place == search.segments.count {
            if let found = leaf(&search, node) { return found }
        } else {
            let range = search.segments[place]
            let name = URLPath.normal(part: search.path[range].span)
            if let next = node.literals[name], let found = find(&search, next, place + 1) {
                return found
            }
            if !range.isEmpty, let next = node.one, let found = find(&search, next, place + 1) { return found }
        }
        guard let rest = node.rest else { return nil }
        return leaf(&search, nodes[rest])
    }

    private func leaf(_ search: inout Search, _ node: Node) -> Int? {
        let fitting = node.bindings.filter { bindings[$0].template.normalVerb == search.suffix }
        if let exact = fitting.first(where: { bindings[$0].httpMethod == search.method }) { return exact }
        if let any = fitting.first(where: { bindings[$0].httpMethod == [UInt8(ascii: "*")] }) { return any }
        search.others += fitting
        return nil
    }
}

/// A path that is looked up.
private struct Search {
    let method: [UInt8]
    let path: [UInt8]
    /// The segments, without the slashes.
    private(set) var segments: [Range<Int>] = []
    /// The normal form of the text behind the last colon, if that is no part of a segment.
    private(set) var suffix: [UInt8]?
    /// The bindings that fit but for their HTTP method.
    var others: [Int] = []

    init(method: [UInt8], path: [UInt8]) {
        (self.method, self.path) = (method, path)
        var start = 1
        for index in path.indices.dropFirst() where path[index] == UInt8(ascii: "/") {
            segments.append(start..<index)
            start = index + 1
        }
        segments.append(start..<path.count)
    }

    /// Where the last segment has a colon.
    var lastColon: Int? {
        segments.last.flatMap { path[$0].lastIndex(of: UInt8(ascii: ":")) }
    }

    /// Ends the last segment at a colon.
    ///
    /// - Returns: the segment as it was.
    mutating func cut(at colon: Int) -> Range<Int> {
        let whole = segments.removeLast()
        segments.append(whole.lowerBound..<colon)
        let verb = path[(colon + 1)...]
        suffix = URLPath.normal(part: verb.span)
        return whole
    }

    mutating func restore(_ segment: Range<Int>) {
        segments[segments.count - 1] = segment
        suffix = nil
    }

    /// Where some segments of a template lie; its last one may stand for all that are left, or none.
    func range(of part: Range<Int>, in template: PathTemplate) -> Range<Int> {
        let end = segments[segments.count - 1].upperBound
        guard part.lowerBound < segments.count else { return end..<end }
        let isRest = template.segments[part.upperBound - 1] == .rest
        return segments[part.lowerBound].lowerBound..<(isRest ? end : segments[part.upperBound - 1].upperBound)
    }
}
