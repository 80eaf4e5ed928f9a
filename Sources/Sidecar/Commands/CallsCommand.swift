internal import Documents
internal import RPC

/// `martlet calls`: the calls that ended last, with where their time went, or those that are under way.
struct CallsCommand {
    /// How wide the bars are, in characters.
    private static let width = 40
    /// How many calls are printed if nobody says otherwise.
    private static let count = 10

    private let file: String?
    private let address: String?
    private let count: Int
    private let codes: [String]
    private let isActive: Bool

    init(_ invocation: Invocation) throws(UsageError) {
        (file, address) = (invocation[.config], invocation[.admin])
        codes = invocation.values(of: .onlyCode)
        isActive = invocation.has(.active)
        if isActive, !codes.isEmpty {
            throw UsageError("--code cannot be used with --active: such calls have no code yet")
        }
        guard let text = invocation[.number] else {
            count = Self.count
            return
        }
        guard let number = Int(text), number > 0 else {
            throw UsageError("-n cannot be \(text); write a number of calls")
        }
        count = number
    }

    /// Prints the calls, the last one last.
    func run() -> Exit {
        guard let targets = AdminCommand.targets(file: file, named: address) else {
            return address == nil ? .configuration : .usage
        }
        guard let text = AdminCommand.text("GET", isActive ? "/calls/active" : "/calls/recent", targets) else {
            return .failure
        }
        let bytes = Array(text.utf8)
        guard let page = try? JSON.parse(bytes.span), case .array(let calls)? = page["calls"] else {
            Terminal.complain("martlet: the response of the daemon cannot be read; is it of another version?")
            return .failure
        }
        // The page of recent calls has the last one first, that of active ones the oldest.
        let wanted = calls.filter { codes.isEmpty || codes.contains($0["code"]?.string ?? "") }.prefix(count)
        for call in isActive ? Array(wanted) : wanted.reversed() {
            let lines = isActive ? Self.progress(call) : Self.lines(call)
            Terminal.print(ShownText.escaped(lines.joined(separator: "\n")))
        }
        return .success
    }

    /// What is printed of a call that is under way.
    static func progress(_ call: JSONValue) -> [String] {
        let elapsed = milliseconds(number(call["elapsed_ms"]))
        let id = (call["call"]?.string ?? "").prefix(TapText.idLength)
        let title =
            "\(id) \(call["phase"]?.string ?? "") for \(elapsed) \(call["protocol"]?.string ?? "") \(name(of: call))"
        let bodies = ["request", "response"].compactMap { part -> String? in
            let bytes = number(call["\(part)_bytes"])
            guard bytes > 0 else { return nil }
            let length = number(call["\(part)_length"])
            guard length > 0 else { return "  \(part) \(Int(bytes)) bytes" }
            let filled = min(width, Int(bytes / length * Double(width)))
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
            return
                "  \(part)\(part == "request" ? " " : "") \(bar) \(Int(bytes / length * 100)) % of \(Int(length)) bytes"
        }
        let rate = bodies.isEmpty ? [] : ["  \(Int(number(call["bytes_per_s"]))) bytes/s"]
        return [title + target(of: call)] + stall(of: call) + bodies + rate
    }

    /// What a call that is under way waits for.
    private static func stall(of call: JSONValue) -> [String] {
        let words = [
            "request_body": "no byte of the request", "response": "the caller reads nothing",
            "connection": "no connection", "silence": "silent",
        ]
        guard let text = call["stalled"]?.string.flatMap({ words[$0] }) else { return [] }
        return ["  \(text) for \(milliseconds(number(call["stalled_ms"])))"]
    }

    /// Where a call goes, or has gone.
    private static func target(of call: JSONValue) -> String {
        let address = call["upstream_address"]?.string.map { " \($0)" } ?? ""
        return call["upstream"]?.string.map { " → \($0)\(address)" } ?? ""
    }

    /// What is printed of a call: a line of words, and a line for each of its stages.
    static func lines(_ call: JSONValue) -> [String] {
        let total = number(call["duration_ms"])
        let time = (call["time"]?.string ?? "").drop { $0 != "T" }.dropFirst().prefix(12)
        let method = name(of: call)
        let attempts = Int(number(call["attempts"]))
        let tries = attempts > 1 ? ", \(attempts) attempts" : ""
        let decider = call["decided_by"]?.string ?? ""
        let by = decider == "upstream" ? "" : ", by \(decider)"
        let id = (call["call"]?.string ?? "").prefix(TapText.idLength)
        let title =
            "\(time) \(id) \(call["code"]?.string ?? "?") \(milliseconds(total)) \(call["protocol"]?.string ?? "") "
            + "\(method)\(target(of: call))\(tries)\(by)"
        let message = call["message"]?.string.map { ["  \($0)"] } ?? []
        return [title] + message + bars(call, total)
    }

    private static func name(of call: JSONValue) -> String {
        if let service = call["service"]?.string, let method = call["method"]?.string { return "\(service)/\(method)" }
        return "\(call["http_method"]?.string ?? "") \(call["path"]?.string ?? "")"
    }

    /// A bar for each stage, behind those before it, and for each of several attempts.
    private static func bars(_ call: JSONValue, _ total: Double) -> [String] {
        guard total > 0, let stages = call["stages"] else { return [] }
        if case .array(let attempts)? = call["attempt_times"] { return bars(stages, Array(attempts), total) }
        var before = 0.0
        return parts(stages, total).map { part in
            defer { before += part.time }
            return bar(part.name, from: before, part.time, of: total)
        }
    }

    /// A bar for the chain, for each attempt, and for each pause between attempts.
    private static func bars(_ stages: JSONValue, _ attempts: [JSONValue], _ total: Double) -> [String] {
        var end = number(stages["chain_ms"])
        var bars = [bar("chain", from: 0, end, of: total)]
        for (index, attempt) in attempts.enumerated() {
            let (began, ended) = (number(attempt["began_ms"]), number(attempt["ended_ms"]))
            if began - end > total / 1000 { bars.append(bar("pause", from: end, began - end, of: total)) }
            end = max(end, ended)
            let words = [outcome(of: attempt), attempt["address"]?.string].compactMap(\.self)
            let text = words.map { " \($0)" }.joined()
            bars.append(bar("attempt \(index + 1)", from: began, ended - began, of: total) + text)
        }
        return bars
    }

    /// What an attempt came to: its code, its HTTP status if that is an error, or what ended it.
    private static func outcome(of attempt: JSONValue) -> String? {
        if let code = attempt["code"]?.string { return code }
        let status = Int(number(attempt["status"]))
        return status >= 400 ? "HTTP \(status)" : attempt["result"]?.string
    }

    /// The stages that the call has reached, in order, and what is left of its time.
    private static func parts(_ stages: JSONValue, _ total: Double) -> [(name: String, time: Double)] {
        func time(_ key: String) -> Double? { stages[key].map(number) }
        let steps = [("name", "dns_ms"), ("connect", "tcp_ms"), ("TLS", "tls_ms"), ("HTTP/2", "http2_ms")]
            .compactMap { name, key in time(key).map { (name: name, time: $0) } }
        var parts = [(name: String, time: Double)]()
        if let chain = time("chain_ms") { parts.append(("chain", chain)) }
        if let connecting = time("connect_ms") {
            // What is not the making of a connection is waiting for one.
            let queue = connecting - steps.reduce(0) { $0 + $1.time }
            if queue > total / 1000 || steps.isEmpty { parts.append(("queue", max(0, queue))) }
        }
        parts += steps
        if let firstByte = time("first_byte_ms") { parts.append(("first byte", firstByte)) }
        let rest = total - parts.reduce(0) { $0 + $1.time }
        // What has not left the chain has been nowhere else.
        let restName = parts.isEmpty ? "chain" : stages["first_byte_ms"] == nil ? "no response" : "body"
        if rest > total / 1000 { parts.append((restName, rest)) }
        return parts
    }

    private static func bar(_ name: String, from before: Double, _ time: Double, of total: Double) -> String {
        let start = max(0, min(width, Int(before / total * Double(width))))
        let exact = Int((time / total * Double(width)).rounded())
        let length = min(width - start, max(time > 0 ? 1 : 0, exact))
        let bar = String(repeating: " ", count: start) + String(repeating: "█", count: length)
        let pad = String(repeating: " ", count: width - start - length)
        return "  \(name)\(String(repeating: " ", count: max(1, 12 - name.count)))\(bar)\(pad) \(milliseconds(time))"
    }

    private static func number(_ value: JSONValue?) -> Double {
        switch value {
        case .integer(let number)?: Double(number)
        case .number(let number)?: Double(number.text) ?? 0
        default: 0
        }
    }

    /// The time with three decimals, as the log has it.
    private static func milliseconds(_ time: Double) -> String {
        let microseconds = Int((time * 1000).rounded())
        let fraction = String(microseconds % 1000)
        return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) ms"
    }
}
