internal import Configuration
internal import Documents

/// A recorded call: what `tape ls` shows of it.
struct TapeCall {
    /// The name of the call.
    let name: String
    /// When it began.
    let started: String
    let root: Node

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: the document.
    ///   - diagnostics: where errors go, with their positions in the document.
    init?(_ bytes: [UInt8], into diagnostics: Diagnostics) {
        guard let root = YAML.parse(bytes, into: diagnostics), diagnostics.isEmpty else { return nil }
        self.root = root
        guard let name = root["call"]?.text else {
            diagnostics.report("the document has no call; record it again", at: root.mark)
            return nil
        }
        self.name = name
        started = root["started"]?.text ?? ""
    }

    /// How it ended: a code, an HTTP status, `cancelled` or `reset`.
    var end: String {
        if root["cancelled"]?.text == "true" { return "cancelled" }
        for step in steps.reversed() {
            if let end = step["end"] { return end["code"]?.text ?? "ok" }
            if let response = step["respond"] { return response["status"]?.text ?? "200" }
            if step["reset"] != nil { return "reset" }
        }
        return "ok"
    }

    /// How many messages went in a direction.
    func count(_ keys: String...) -> Int { steps.count { step in keys.contains { step[$0] != nil } } }

    /// How long it took.
    var took: String { root["took"]?.text ?? "" }

    /// What lacks of it.
    var lack: String? { root["incomplete"]?.text }

    var steps: [Node] {
        if case .sequence(let items)? = root["script"]?.content { items } else { [] }
    }
}

extension Node {
    /// The value of a key.
    subscript(_ key: String) -> Node? { entries?.first { $0.key == key }?.value }

    /// The text of a scalar.
    var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }
}
