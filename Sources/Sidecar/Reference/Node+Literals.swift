internal import Configuration

// A node can be written as the JSON that it becomes.

extension Node: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self = .string(text) }

    /// A scalar that stays text, whatever it looks like.
    static func string(_ text: String) -> Node {
        Node(.scalar(text, quoted: true), at: .start)
    }
}

extension Node: ExpressibleByBooleanLiteral {
    init(booleanLiteral value: Bool) { self = .plain("\(value)", at: .start) }
}

extension Node: ExpressibleByIntegerLiteral {
    init(integerLiteral value: Int) { self = .integer(value) }

    static func integer(_ value: Int) -> Node {
        .plain("\(value)", at: .start)
    }
}

extension Node: ExpressibleByArrayLiteral {
    init(arrayLiteral items: Node...) { self = .list(items) }

    static func list(_ items: [Node]) -> Node {
        Node(.sequence(items), at: .start)
    }
}

extension Node: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral members: (String, Node)...) { self = .object(members) }

    static func object(_ members: [(String, Node)]) -> Node {
        Node(.mapping(members.map { Entry(key: $0, keyMark: .start, value: $1) }), at: .start)
    }

    /// Both objects' members as one object.
    static func + (first: Node, second: Node) -> Node {
        Node(.mapping((first.entries ?? []) + (second.entries ?? [])), at: .start)
    }
}
