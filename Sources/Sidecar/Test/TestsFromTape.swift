internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import Interceptors

/// Writes a file of tests from a tape: each recorded call is made, and its response is expected; the tape stands for the
/// upstreams.
struct TestsFromTape {
    private static let protocols = ["connect_unary", "connect_get", "connect_stream", "grpc", "grpc_web"]

    private let output = ByteQueue()
    private let tape: String
    private let upstreams: [String]
    /// The calls that make no test, each with the reason.
    private(set) var skipped: [String] = []

    /// Makes tests of all whole calls of a tape.
    ///
    /// - Parameters:
    ///   - tape: the path of the tape.
    ///   - configuration: the path of the configuration.
    ///   - upstreams: the names of its upstreams.
    /// - Throws: why the tape cannot be read.
    init(_ tape: String, configuration: String, upstreams: [String]) throws(SystemError) {
        (self.tape, self.upstreams) = (tape, upstreams)
        output.append("config: ")
        output.append(yaml: configuration)
        output.append("\ntests:\n")
        var reader = try TapeReader(tape)
        while let document = try reader.next() {
            guard let call = TapeCall(document.bytes, into: Diagnostics()), reader.isWhole(document) else {
                skipped.append("call \(document.number): it is not whole")
                continue
            }
            if let lack = call.lack ?? Self.lack(of: call) {
                skipped.append("call \(document.number): \(lack)")
            } else {
                add(call, document.number)
            }
        }
    }

    /// Why a recorded call cannot be a test, if it cannot.
    private static func lack(of call: TapeCall) -> String? {
        if call.end == "canceled" { return "the caller left" }
        if call.end == "reset" { return "the response broke off" }
        guard !call.name.contains(" ") else { return nil }
        let name = call.root.member("protocol")?.scalar ?? "connect_unary"
        if !protocols.contains(name) { return "a test cannot call in \(name)" }
        let messages = call.steps.compactMap { $0.member("send") ?? $0.member("expect") }
        return messages.allSatisfy { $0.member("json") != nil } ? nil : "a message is not JSON"
    }

    /// The file.
    var text: [UInt8] { output.readable.array }

    private func add(_ call: TapeCall, _ number: Int) {
        output.append("  - name: ")
        output.append(yaml: "call \(number): \(call.name)")
        output.append("\n    given: { upstreams: { ")
        for (index, name) in upstreams.enumerated() {
            if index > 0 { output.append(", ") }
            output.append(yaml: name)
            output.append(": { mock: { tape: ")
            output.append(yaml: tape)
            output.append(text: ", calls: [\(number)] } }")
        }
        output.append(" } }\n    call: { ")
        addCall(call)
        output.append(" }\n    expect: { ")
        addExpectation(call)
        output.append(" }\n")
    }

    private func addCall(_ call: TapeCall) {
        let isRPC = !call.name.contains(" ")
        output.append(isRPC ? "method: " : "http: ")
        output.append(yaml: call.name)
        if isRPC {
            output.append(text: ", protocol: \(call.root.member("protocol")?.scalar ?? "connect_unary")")
            if call.root.member("codec")?.scalar == "proto" { output.append(", codec: proto") }
        }
        let fields = call.root.member("request")?.member("headers")?.entries ?? []
        let own = fields.filter { $0.value.scalar != "***" && $0.key != "host" && $0.key != "content-length" }
        if !own.isEmpty {
            output.append(", headers: { ")
            for (index, entry) in own.enumerated() {
                if index > 0 { output.append(", ") }
                output.append(quotedYAML: entry.key)
                output.append(": ")
                output.append(quotedYAML: entry.value.scalar ?? "")
            }
            output.append(" }")
        }
        addMessages(call.steps.compactMap { $0.member("expect") })
    }

    private func addMessages(_ messages: [Node]) {
        if messages.count == 1, messages[0].member("json") == nil {
            for key in ["text", "base64"] {
                guard let bytes = messages[0].member(key)?.scalar else { continue }
                output.append(text: ", \(key): ")
                return output.append(quotedYAML: bytes)
            }
        }
        let values = messages.compactMap { $0.member("json")?.member("")?.member("equals") }
        guard !values.isEmpty else { return }
        output.append(values.count == 1 ? ", json: " : ", messages: [")
        for (index, value) in values.enumerated() {
            if index > 0 { output.append(", ") }
            add(value)
        }
        if values.count > 1 { output.append("]") }
    }

    private func addExpectation(_ call: TapeCall) {
        if let response = call.steps.compactMap({ $0.member("respond") }).last {
            output.append(text: "status: \(response.member("status")?.scalar ?? "200")")
            guard let body = response.member("body")?.scalar else { return }
            output.append(", response: { body: { equals: ")
            output.append(quotedYAML: body)
            return output.append(" } }")
        }
        output.append(text: "code: \(call.end)")
        let end = call.steps.compactMap { $0.member("end") }.last
        if let message = end?.member("message")?.scalar, !message.isEmpty, !message.contains("***") {
            output.append(", message: { equals: ")
            output.append(quotedYAML: Self.plain(message))
            output.append(" }")
        }
        if case .sequence(let details)? = end?.member("details")?.content, !details.isEmpty {
            let types = details.compactMap { $0.member("type")?.scalar }.map { "{ type: \($0) }" }
            output.append(text: ", details: [\(types.joined(separator: ", "))]")
        }
        let sent = call.steps.compactMap { $0.member("send")?.member("json") }
        guard !sent.isEmpty else { return }
        output.append(", response: { messages: [")
        for (index, value) in sent.enumerated() {
            if index > 0 { output.append(", ") }
            output.append("{ \"\": { equals: ")
            add(value, isTemplate: true)
            output.append(" } }")
        }
        output.append("] }")
    }

    /// Adds a value; braces of a text that is a template on the tape are single again.
    private func add(_ node: Node, isTemplate: Bool = false) {
        guard let value = try? JSON.parse(node.json) else { return }
        output.append(yaml: value) { isTemplate ? Self.plain($0) : $0 }
    }

    private static func plain(_ text: String) -> String {
        text.replacing("{{", with: "{").replacing("}}", with: "}")
    }
}
