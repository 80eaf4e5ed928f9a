internal import Configuration

/// Builds the nodes of a document from the steps of its text, within bounds.
///
/// What an alias stands for is counted each time it is used, so that a few lines cannot become a document of any size.
struct YAMLComposer {
    /// What a node takes of the bounds.
    private struct Weight {
        var nodes = 0
        var bytes = 0
    }

    /// A node with the number of levels it has.
    private struct Built {
        let node: Node
        var levels = 1
    }

    private let events: YAMLEvents
    private let diagnostics: Diagnostics
    private var anchors: [String: (built: Built, weight: Weight)] = [:]
    private var spent = Weight()

    init(_ events: YAMLEvents, _ diagnostics: Diagnostics) {
        self.events = events
        self.diagnostics = diagnostics
    }

    /// The one document of the text; none if there is no text.
    mutating func document() throws(Diagnostic) -> Node? {
        guard case .document = try events.next().kind else { return nil }
        let root = try build(events.next(), depth: 1)
        let next = try events.next()
        if case .document = next.kind {
            throw Diagnostic(mark: next.mark, message: "a second document starts here; write only one document")
        }
        return root.node
    }

    /// The node that starts with `event`, to stand `depth` levels below the top.
    private mutating func build(_ event: YAMLEvent, depth: Int) throws(Diagnostic) -> Built {
        try limit(depth: depth, at: event.mark)
        if case .alias(let name) = event.kind { return try copy(of: name, depth: depth, at: event.mark) }
        let before = spent
        let built: Built
        switch event.kind {
        case .sequenceStart: built = try sequence(event, depth: depth)
        case .mappingStart: built = try mapping(event, depth: depth)
        default: built = try scalar(event)
        }
        if let anchor = event.anchor {
            anchors[anchor] = (built, Weight(nodes: spent.nodes - before.nodes, bytes: spent.bytes - before.bytes))
        }
        return built
    }

    private mutating func copy(of name: String, depth: Int, at mark: Mark) throws(Diagnostic) -> Built {
        guard let (built, weight) = anchors[name] else {
            let problem = "there is no anchor \(Diagnostic.quote(name)) before this alias"
            throw Diagnostic(mark: mark, message: "\(problem); mark the value to repeat with &\(name)")
        }
        try limit(depth: depth + built.levels - 1, at: mark)
        try spend(nodes: weight.nodes, bytes: weight.bytes, at: mark)
        return built
    }

    private mutating func scalar(_ event: YAMLEvent) throws(Diagnostic) -> Built {
        guard case .scalar(let text, let isQuoted) = event.kind else {
            throw Diagnostic(mark: event.mark, message: "a value is missing; write one")
        }
        try spend(nodes: 1, bytes: text.utf8.count, at: event.mark)
        if text.utf8.contains(0) {
            diagnostics.report("the text contains a NUL character; remove it", at: event.mark)
        }
        let isString = YAMLTag.isString(event.tag)
        if !YAMLTag.isScalar(event.tag) { reportTag(event) }
        let isNull = !isQuoted && !isString && ["", "~", "null"].contains(text)
        return Built(node: Node(isNull ? .null : .scalar(text, quoted: isQuoted || isString), at: event.mark))
    }

    private mutating func sequence(_ start: YAMLEvent, depth: Int) throws(Diagnostic) -> Built {
        try spend(nodes: 1, bytes: 0, at: start.mark)
        if !YAMLTag.isSequence(start.tag) { reportTag(start) }
        var items: [Node] = []
        var levels = 0
        while true {
            let event = try events.next()
            if case .end = event.kind { break }
            let item = try build(event, depth: depth + 1)
            levels = max(levels, item.levels)
            items.append(item.node)
        }
        return Built(node: Node(.sequence(items), at: start.mark), levels: levels + 1)
    }

    private mutating func mapping(_ start: YAMLEvent, depth: Int) throws(Diagnostic) -> Built {
        try spend(nodes: 1, bytes: 0, at: start.mark)
        if !YAMLTag.isMapping(start.tag) { reportTag(start) }
        var entries: [Node.Entry] = []
        var lines: [String: Int] = [:]
        var levels = 0
        while true {
            let event = try events.next()
            if case .end = event.kind { break }
            let key = try key(event)
            let value = try build(events.next(), depth: depth + 1)
            levels = max(levels, value.levels)
            guard let key else { continue }
            if let line = lines[key] {
                diagnostics.report(
                    "the key \(Diagnostic.quote(key)) is already used on line \(line); keep one of them",
                    at: event.mark
                )
            } else {
                lines[key] = event.mark.line
                entries.append(Node.Entry(key: key, keyMark: event.mark, value: value.node))
            }
        }
        return Built(node: Node(.mapping(entries), at: start.mark), levels: levels + 1)
    }

    /// The text of a key; none, and a report, for one that cannot be used.
    private mutating func key(_ event: YAMLEvent) throws(Diagnostic) -> String? {
        guard case .scalar(let key, let isQuoted) = event.kind else {
            throw Diagnostic(
                mark: event.mark,
                message: "a key must be text; write text, in quotes if it starts with \"{\" or \"[\""
            )
        }
        try spend(nodes: 0, bytes: key.utf8.count, at: event.mark)
        let problem: String
        switch key {
        case "" where !isQuoted: problem = "a key is missing before \":\"; write one"
        case "<<": problem = "merge keys are not supported; write the keys in full"
        case _ where key.utf8.contains(0): problem = "the key contains a NUL character; remove it"
        default: return key
        }
        diagnostics.report(problem, at: event.mark)
        return nil
    }

    private func reportTag(_ event: YAMLEvent) {
        diagnostics.report("the tag \(Diagnostic.quote(event.tag ?? "")) is not supported; remove it", at: event.mark)
    }

    private func limit(depth: Int, at mark: Mark) throws(Diagnostic) {
        guard depth > YAML.maxDepth else { return }
        throw Diagnostic(mark: mark, message: "values are nested more than \(YAML.maxDepth) levels deep; flatten them")
    }

    private mutating func spend(nodes: Int, bytes: Int, at mark: Mark) throws(Diagnostic) {
        spent.nodes += nodes
        spent.bytes += bytes
        guard spent.nodes > YAML.maxNodes || spent.bytes > YAML.maxText else { return }
        let bound = "\(YAML.maxNodes) values and 16MiB of text"
        throw Diagnostic(
            mark: mark,
            message: "the file is larger than \(bound), with aliases expanded; make it smaller"
        )
    }
}
