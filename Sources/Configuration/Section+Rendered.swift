extension Section {
    /// The section in effect, for people to read: in the order of the table, defaults filled in, secrets hidden.
    public var rendered: Node {
        inEffect.hidingSecrets
    }

    private var inEffect: Node {
        let entries: [Node.Entry] = options.compactMap { option in
            guard let value = rendered(option) else { return nil }
            return Node.Entry(key: option.key, keyMark: mark, value: value)
        }
        return Node(.mapping(entries), at: mark)
    }

    private func rendered(_ option: Option) -> Node? {
        switch option.kind {
        case .section:
            // An absent section that cannot stand without a value, such as the admin socket, is absent.
            let section = section(option.key)
            let isEmpty = section.options.allSatisfy { $0.fallback == nil && !section.has($0.key) }
            let isAbsent =
                !has(option.key) && (isEmpty || section.options.contains { $0.isRequired || $0.group != nil })
            return isAbsent ? nil : section.inEffect
        case .sections where has(option.key):
            return Node(.sequence(sections(option.key).map(\.inEffect)), at: mark)
        case .named where has(option.key):
            let entries = named(option.key).map {
                Node.Entry(key: $0.name, keyMark: $0.mark, value: $0.section.inEffect)
            }
            return Node(.mapping(entries), at: mark)
        default:
            return node(option.key) ?? option.fallback.map { .plain($0, at: mark) }
        }
    }
}
