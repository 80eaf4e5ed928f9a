internal import Configuration
internal import Documents
internal import Types

/// The message of a call as words of the command line: `query=x`, `page:=2`, `user.name=x`.
struct CallFields {
    private struct Field {
        let names: [String]
        let text: String
        /// Whether the text is JSON, and not the value itself.
        let isJSON: Bool
    }

    private let fields: [Field]

    var isEmpty: Bool { fields.isEmpty }

    /// Reads the words.
    ///
    /// - Throws: a word that has no name, or no `=`.
    init(_ words: [String], _ invocation: Invocation) throws(UsageError) {
        var fields: [Field] = []
        for word in words {
            guard let equals = word.firstIndex(of: "=") else {
                let advice = "write name=value, or name:=JSON"
                throw invocation.error("\(Diagnostic.quote(word)) is not a field; \(advice)")
            }
            let isJSON = word[..<equals].hasSuffix(":")
            let names = word[..<equals].dropLast(isJSON ? 1 : 0)
                .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard !names.contains("") else {
                throw invocation.error("\(Diagnostic.quote(word)) has no name; write name=value")
            }
            fields.append(Field(names: names, text: String(word[word.index(after: equals)...]), isJSON: isJSON))
        }
        self.fields = fields
    }

    /// The message as JSON.
    ///
    /// - Parameter type: its type, which tells a `true` from a text; none makes texts of all values.
    /// - Returns: the message.
    /// - Throws: what is not JSON, or has no place.
    func message(_ type: MessageType?) throws(CallError) -> [UInt8] {
        var message = JSONValue.object([])
        for field in fields {
            let path = type?.fieldPath(field.names)
            let value = try value(of: field, path)
            let isAdded = message.add(value, at: field.names[...], isList: !field.isJSON && path?.isList == true)
            guard isAdded else {
                throw CallError(
                    "\(field.names.joined(separator: ".")) is a value and a message; write one of them",
                    .usage
                )
            }
        }
        return message.bytes
    }

    private func value(of field: Field, _ path: FieldPath?) throws(CallError) -> JSONValue {
        let name = field.names.joined(separator: ".")
        guard field.isJSON else {
            guard case .bool? = path?.form else { return .string(field.text) }
            guard let value = ["true": true, "false": false][field.text] else {
                throw CallError("\(name) is neither true nor false", .usage)
            }
            return .bool(value)
        }
        do throws(JSONError) {
            return try JSON.parse(Array(field.text.utf8))
        } catch {
            throw CallError("\(name) is not valid JSON at column \(error.column): \(error.text)", .usage)
        }
    }
}

extension JSONValue {
    /// Adds a member of an object within the value, whose names lead there; one that is there already makes a list with it.
    ///
    /// - Returns: false if something else than an object is on the way.
    fileprivate mutating func add(_ value: JSONValue, at names: ArraySlice<String>, isList: Bool) -> Bool {
        guard case .object(let known) = self, let name = names.first else { return false }
        var members = Array(known)
        let rest = names.dropFirst()
        let index = members.firstIndex { $0.name == name }
        if rest.isEmpty {
            if let index {
                var items = [members[index].value]
                if case .array(let known) = members[index].value { items = Array(known) }
                members[index].value = .array(items + [value])
            } else {
                members.append(Member(name, isList ? .array([value]) : value))
            }
        } else {
            var inner = index.map { members[$0].value } ?? .object([])
            guard inner.add(value, at: rest, isList: isList) else { return false }
            if let index { members[index].value = inner } else { members.append(Member(name, inner)) }
        }
        self = .object(members)
        return true
    }
}
