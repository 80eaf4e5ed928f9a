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
        guard let name = root.member("call")?.scalar else {
            diagnostics.report("the document has no call; record it again", at: root.mark)
            return nil
        }
        self.name = name
        started = root.member("started")?.scalar ?? ""
    }

    /// How it ended: a code, an HTTP status, `canceled` or `reset`.
    var end: String {
        if root.member("canceled")?.scalar == "true" { return "canceled" }
        for step in steps.reversed() {
            if let end = step.member("end") { return end.member("code")?.scalar ?? "ok" }
            if let response = step.member("respond") { return response.member("status")?.scalar ?? "200" }
            if step.member("reset") != nil { return "reset" }
        }
        return "ok"
    }

    /// How many messages went in a direction.
    func count(_ keys: String...) -> Int { steps.count { step in keys.contains { step.member($0) != nil } } }

    /// How long it took.
    var took: String { root.member("took")?.scalar ?? "" }

    /// What lacks of it.
    var lack: String? { root.member("incomplete")?.scalar }

    var steps: [Node] {
        if case .sequence(let items)? = root.member("script")?.content { items } else { [] }
    }
}

extension Node {
    /// The value of a key.
    func member(_ key: String) -> Node? { entries?.first { $0.key == key }?.value }

    /// The text of a scalar.
    var scalar: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }
}
