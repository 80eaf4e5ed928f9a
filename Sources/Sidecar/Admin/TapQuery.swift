internal import Configuration
internal import Policy
internal import Proxy

/// What the query of `/tap` asks for: the keys of `when`, and how much of the calls is shown.
enum TapQuery {
    /// The parameters that stand for keys of a condition.
    private static let conditions = [
        "service", "method", "http_method", "path", "host", "protocol", "code", "peer",
    ]
    /// All parameters.
    static let parameters = conditions + ["messages", "bytes", "rate"]

    /// The number of bytes of a message that are shown if nobody says otherwise.
    private static let bytes = 4096
    private static let maxBytes = 64 * 1024
    /// The events in a second if nobody says otherwise.
    private static let rate = "100/s"

    /// Why the query is not valid, for people.
    struct Malformed: Error {
        let text: String
    }

    /// Makes the tap that a query asks for.
    static func tap(_ query: AdminQuery) throws(Malformed) -> Tap {
        let text = query["rate"] ?? rate
        guard let rate = Rate(text: text) else {
            throw Malformed(
                text: "\(Diagnostic.quote(text)) is not a rate; write a number and /s, /m or /h, for example 100/s"
            )
        }
        let messages = query["messages"] ?? "false"
        guard messages == "true" || messages == "false" else {
            throw Malformed(
                text: "\(Diagnostic.quote(messages)) is not true or false; write messages=true or messages=false"
            )
        }
        let count = query["bytes"] ?? "\(bytes)"
        guard let max = Int(count), 0...maxBytes ~= max else {
            throw Malformed(
                text: "\"bytes\" cannot be \(Diagnostic.quote(count)); write a number from 0 to \(maxBytes)"
            )
        }
        return Tap(try condition(query), showsMessages: messages == "true", maxBytes: max, rate: rate)
    }

    /// The condition, read as the configuration's are.
    private static func condition(_ query: AdminQuery) throws(Malformed) -> Condition {
        var entries: [Node.Entry] = []
        for name in conditions {
            let values = query.values(name)
            guard !values.isEmpty else { continue }
            let node =
                name == "peer"
                ? try peer(values)
                : Node(.sequence(values.map { Node(.scalar($0, quoted: true), at: .start) }), at: .start)
            entries.append(Node.Entry(key: name, keyMark: .start, value: node))
        }
        let diagnostics = Diagnostics()
        let section = Section(
            Node(.mapping(entries), at: .start),
            ConditionSettings.options,
            into: diagnostics
        )
        let condition = Condition(ConditionSettings(section), into: diagnostics)
        if let problem = diagnostics.sorted.first { throw Malformed(text: problem.message) }
        return condition
    }

    /// The users and groups of calling processes, written `uid=1000` and `gid=100`.
    private static func peer(_ values: [String]) throws(Malformed) -> Node {
        var entries: [Node.Entry] = []
        for key in ["uid", "gid"] {
            let found = values.filter { $0.hasPrefix("\(key)=") || $0.hasPrefix("\(key):") }.map {
                Node.plain(String($0.dropFirst(4)), at: .start)
            }
            guard !found.isEmpty else { continue }
            entries.append(Node.Entry(key: key, keyMark: .start, value: Node(.sequence(found), at: .start)))
        }
        if let other = values.first(where: { value in
            !["uid=", "uid:", "gid=", "gid:"].contains { value.hasPrefix($0) }
        }) {
            throw Malformed(text: "\"peer\" cannot be \(Diagnostic.quote(other)); write uid=1000 or gid=100")
        }
        return Node(.mapping(entries), at: .start)
    }
}
