internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import Proxy

/// The rules for the parameters of a query; those that no rule names keep their bytes and their places.
///
/// Parameters of the Connect protocol stay what they are in a call that is made by them.
struct QueryRules: Sendable {
    static let options = [
        Option("set", .map, "Parameters to set. A parameter that exists is replaced."),
        Option("add", .map, "Parameters to append. A parameter that exists is kept."),
        Option("remove", .strings, "Parameters to remove."),
    ]

    private struct Rule: Sendable {
        let name: [UInt8]
        let template: Template?
        /// Whether the protocol owns the parameter in calls of Connect by GET.
        let isConnects: Bool

        init(_ name: String, _ template: Template?) {
            self.name = Array(name.utf8)
            self.template = template
            isConnects = ["connect", "encoding", "message", "base64", "compression"].contains(name)
        }
    }

    private let removed: [Rule]
    private let set: [Rule]
    private let added: [Rule]

    /// Compiles the rules; what is wrong with them is reported.
    init(_ section: Section) {
        let rules = { (key: String) in
            section.map(key).map { entry in
                Rule(entry.name, Template(entry.text, at: entry.mark, into: section.diagnostics))
            }
        }
        removed = section.strings("remove").map { Rule($0, nil) }
        set = rules("set")
        added = rules("add")
        guard removed.isEmpty, set.isEmpty, added.isEmpty else { return }
        let advice = "add \"set\", \"add\" or \"remove\""
        section.diagnostics.report("the rules do not change the query; \(advice)", at: section.mark)
    }

    /// Appends the query that the call gets, with its `?` if there is any; `scratch` is empty before and afterwards.
    func append(_ call: Call, to queue: ByteQueue, using scratch: ByteQueue) {
        let request = call.request
        let query = request.query
        let start = queue.count
        var isSet = [Bool](repeating: false, count: set.count)
        var position = 0
        while let parameter = QueryParameter(in: query, at: &position) {
            let name = query.extracting(parameter.name)
            if index(of: name, in: removed, call) != nil { continue }
            if let index = index(of: name, in: set, call) {
                if !isSet[index] { append(set[index], call, to: queue, after: start, scratch) }
                isSet[index] = true
            } else {
                separate(queue, after: start)
                queue.append(query.extracting(parameter.range))
            }
        }
        for (index, rule) in set.enumerated() where !isSet[index] {
            append(rule, call, to: queue, after: start, scratch)
        }
        for rule in added { append(rule, call, to: queue, after: start, scratch) }
    }

    private func index(of name: Span<UInt8>, in rules: [Rule], _ call: Call) -> Int? {
        for index in rules.indices where name.stands(for: rules[index].name) {
            return applies(rules[index], to: call) ? index : nil
        }
        return nil
    }

    private func applies(_ rule: Rule, to call: Call) -> Bool {
        !rule.isConnects || call.rpcProtocol != .connectGet
    }

    private func append(_ rule: Rule, _ call: Call, to queue: ByteQueue, after start: Int, _ scratch: ByteQueue) {
        guard applies(rule, to: call) else { return }
        separate(queue, after: start)
        queue.append(escaping: rule.name.span)
        queue.append(byte: UInt8(ascii: "="))
        defer { scratch.removeAll() }
        rule.template?.render(for: call, to: scratch)
        queue.append(escaping: scratch.readable)
    }

    private func separate(_ queue: ByteQueue, after start: Int) {
        queue.append(byte: queue.count == start ? UInt8(ascii: "?") : UInt8(ascii: "&"))
    }
}
