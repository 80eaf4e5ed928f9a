internal import Documents

/// An event of a tap as a line for people.
enum TapText {
    /// How much of the ID of a call is printed: enough to ask for it.
    static let idLength = 6

    /// The line; none for an event that says nothing new to people.
    static func line(_ event: JSONValue) -> String? {
        if let count = event["lost"] {
            return "(\(count.text) lines left out: the rate is reached, or the reader is too slow)"
        }
        let kind = event["event"]?.string ?? ""
        if kind == "skipped" {
            return "(\(event["calls"]?.text ?? "") calls left out: the rate is reached, or the reader is too slow)"
        }
        guard let words = words(kind, event) else { return nil }
        let time = (event["time"]?.string ?? "").drop { $0 != "T" }.dropFirst().prefix(12)
        return oneLine("\(time) \((event["call"]?.string ?? "").prefix(idLength)) \(words)")
    }

    private static func words(_ kind: String, _ event: JSONValue) -> String? {
        let isRPC = event["service"]?.string != nil
        switch kind {
        case "request":
            let name =
                isRPC
                ? "\(event["service"]?.string ?? "")/\(event["method"]?.string ?? "")"
                : "\(event["http_method"]?.string ?? "") \(event["target"]?.string ?? "")"
            let upstream = event["upstream"]?.string.map { " → \($0)" } ?? ""
            return "→ \(event["protocol"]?.string ?? "") \(name)  \(event["peer"]?.string ?? "")\(upstream)"
        case "message":
            let arrow = event["direction"]?.string == "request" ? "→" : "←"
            return "\(arrow) \(message(event))"
        case "response": return event["status"].map { "← HTTP \($0.text)" }
        case "end": return end(event)
        default: return nil
        }
    }

    private static func message(_ event: JSONValue) -> String {
        let cut = event["cut"] == nil ? "" : "… (\(event["bytes"]?.text ?? "") bytes)"
        if let json = event["json"] { return json.text }
        if let text = event["text"]?.string { return text + cut }
        if let base64 = event["base64"]?.string { return "base64 \(base64)\(cut)" }
        return "(\(event["bytes"]?.text ?? "") bytes, withheld: redact has json, and this cannot be looked into)"
    }

    /// A text without line breaks, which could pass for lines of the tap.
    private static func oneLine(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    /// The headers of an event, a line each; none if it has none.
    static func headers(_ event: JSONValue) -> [String] {
        guard case .object(let members)? = event["headers"] else { return [] }
        let arrow = event["event"]?.string == "request" ? "→" : "←"
        let start = "\((event["call"]?.string ?? "").prefix(idLength)) \(arrow)"
        return members.map { oneLine("\(start) \($0.name): \($0.value.string ?? "")") }
    }

    private static func end(_ event: JSONValue) -> String {
        let stages = event["stages"]
        let names = [("chain", "chain_ms"), ("connect", "connect_ms"), ("first byte", "first_byte_ms")]
        let times = names.map { name, key in "\(name) \(stages?[key]?.text ?? "–")" }
        let decider = event["decided_by"]?.string ?? "upstream"
        let by = decider == "upstream" ? "" : ", by \(decider)"
        let message = event["message"]?.string.map { ": \($0)" } ?? ""
        let attempts = "attempts \(event["attempts"]?.text ?? "0")"
        let words = (times + [attempts]).joined(separator: ", ")
        return "\(event["code"]?.string ?? "") \(event["duration_ms"]?.text ?? "") ms  \(words)\(by)\(message)"
    }
}

extension JSONValue {
    /// The value as JSON.
    fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}
