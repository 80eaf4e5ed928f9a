internal import Bytes
internal import Documents
internal import Protocols
internal import Proxy
internal import RPC

/// Compares the response of the upstream with the recorded one, as it comes.
struct TapeComparison {
    private let context: MockContext
    let journal: MockRecorder?
    private let ignored: [JSONPointer]
    private var expected: [MockMessage] = []
    private var end: MockEnd?
    private var status: Int?
    /// The status that has come.
    private var liveStatus = 200
    private var count = 0
    private var differences: [String] = []

    init(_ context: MockContext, with rule: MockRule, _ journal: MockRecorder?) {
        (self.context, self.journal) = (context, journal)
        ignored = rule.ignoredPlaces
        for step in rule.script.steps {
            switch step {
            case .send(let message): expected.append(message)
            case .end(let end): self.end = end
            case .plain(let response):
                status = response.status
                expected += [response.message].compactMap { $0 }
            default: break
            }
        }
        journal?.chosen(rule)
        if context.number > 0 { journal?.received(context) }
    }

    /// The head of a response has come.
    mutating func received(status live: Int) {
        // What has come of an attempt before is of no use.
        (count, differences, liveStatus) = (0, [], live)
        if let status, live != status { differences.append("the status is \(live), and was \(status)") }
    }

    /// A message of the response has come.
    mutating func received(_ payload: Span<UInt8>, _ value: JSONValue?) {
        // The error of Connect is no message.
        guard !context.call.rpcProtocol.isUnaryConnect || liveStatus == 200 else { return }
        defer { count += 1 }
        guard count < expected.count else { return }
        guard let recorded = try? expected[count].payload(context) else { return }
        guard !payload.equals(recorded) else { return }
        let call = context.call
        let known = call.rpcProtocol == .http ? try? call.parsed(recorded.span) : call.json(recorded.span, .response)
        guard let value, let known else { return differences.append("message \(count + 1) is another") }
        let places = TapeMessage.differences(between: known, and: value, ignoring: ignored)
        guard let first = places.first else { return }
        let text = first.isEmpty ? "" : " at \(places.joined(separator: ", "))"
        differences.append("message \(count + 1) is another\(text)")
    }

    /// The call is over.
    func finish() {
        var differences = differences
        let call = context.call
        if count != expected.count, call.rpcProtocol != .http {
            differences.append("the response has \(count) messages, and had \(expected.count)")
        }
        if let end, end.code != call.code {
            differences.append("the code is \(call.code.name), and was \(end.code.name)")
        }
        journal?.differs(differences)
        journal?.ended(.status(call.code, call.message), at: call.now)
    }
}
