internal import Bytes
internal import Documents
internal import RPC
internal import Types

/// The fields of a request that come in its path and in its query.
struct RESTParameters {
    /// Those of the path, which count whatever else is said.
    private(set) var path: [(field: FieldPath, value: JSONValue)] = []
    /// Those of the query, in their order; a list has several values.
    private(set) var query: [(field: FieldPath, values: [JSONValue])] = []

    /// Whether all that the message has is in the body.
    var isEmpty: Bool { path.isEmpty && query.isEmpty }

    /// Reads what a request has beside its body.
    ///
    /// - Parameters:
    ///   - binding: the path that is called.
    ///   - variables: the parts of `path` that are variables.
    ///   - path: the path.
    ///   - query: the query without its `?`.
    ///   - ignored: the names in a query that are meant for others.
    /// - Throws: what the caller is told about a parameter that no field has, or whose text cannot be its value.
    init(
        _ binding: RESTBinding,
        variables: [Range<Int>],
        path: Span<UInt8>,
        query: Span<UInt8>,
        ignored: [String]
    ) throws(RPCError) {
        var sources = FieldSources()
        for (variable, range) in zip(binding.variables, variables) {
            _ = sources.insert(variable.field)
            let name = variable.field.name
            let value = try path.extracting(range).unescapedText(of: name, keepsSlash: variable.isPath)
            self.path.append((variable.field, try Self.value(value, variable.field)))
        }
        var places: [String: Int] = [:]
        var position = 0
        while let parameter = QueryParameter(in: query, at: &position) {
            guard !parameter.range.isEmpty else { continue }
            let name = try query.extracting(parameter.name).formText(of: "the query")
            guard !ignored.contains(name) else { continue }
            let field = try Self.field(name, of: binding.method.request)
            // What the path says counts.
            guard !self.path.contains(where: { $0.field.isSame(as: field) }) else { continue }
            if let other = sources.insert(field) {
                let problem = "the request has \(other) and \(name), which are one value"
                throw RPCError(.invalidArgument, "\(problem); send one of them")
            }
            let text = try query.extracting(parameter.value).formText(of: name)
            let value = try Self.value(text, field)
            guard let place = places[field.name] else {
                places[field.name] = self.query.count
                self.query.append((field, [value]))
                continue
            }
            guard field.isList else {
                throw RPCError(.invalidArgument, "the query has \(name) twice, and the field is not a list")
            }
            self.query[place].values.append(value)
        }
    }

    private static func field(_ name: String, of type: MessageType) throws(RPCError) -> FieldPath {
        let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let field = type.fieldPath(names) else {
            throw RPCError(.invalidArgument, "\(type.name): no field \"\(name)\", which the query names")
        }
        guard field.form != nil else {
            throw RPCError(.invalidArgument, "a query cannot have \(name), which is a message or a map")
        }
        return field
    }

    /// The text of a parameter as JSON of the field.
    private static func value(_ text: String, _ field: FieldPath) throws(RPCError) -> JSONValue {
        switch field.form {
        case .bool:
            guard text == "true" || text == "false" else {
                throw RPCError(.invalidArgument, "\(field.name) is neither true nor false")
            }
            return .bool(text == "true")
        case .enumeration: return Int(text).map { .integer($0) } ?? .string(text)
        case .string, nil: return .string(text)
        }
    }
}

/// The well-known values that a request has as a whole, as `at`, or by their parts, as `at.seconds`.
private struct FieldSources {
    private var wholes: Set<String> = []
    /// The part of a value that has come first.
    private var parts: [String: String] = [:]

    /// Notes a field.
    ///
    /// - Returns: the field that has the same value in the other way, if there is one.
    mutating func insert(_ field: FieldPath) -> String? {
        guard let count = field.stepsToWhole else {
            wholes.insert(field.name)
            return parts[field.name]
        }
        let whole = field.name(ofFirst: count)
        if parts[whole] == nil { parts[whole] = field.name }
        return wholes.contains(whole) ? whole : nil
    }
}

extension FieldPath {
    /// The names of the definition, as a query has them.
    var name: String { name(ofFirst: steps.count) }

    /// The name of the field to which the first steps lead.
    func name(ofFirst count: Int) -> String { steps.prefix(count).map(\.name).joined(separator: ".") }

    /// Whether both are the same field.
    func isSame(as other: FieldPath) -> Bool {
        steps.count == other.steps.count && zip(steps, other.steps).allSatisfy { $0.name == $1.name }
    }
}
