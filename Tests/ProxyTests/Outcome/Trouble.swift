import Protocols
import RPC

/// What goes wrong with a call, or does not.
struct Trouble: CustomStringConvertible {
    /// What the upstream does.
    enum Script {
        case good, error, errorOnly, rejects, garbled, endless, cut, large, page(Int)
        /// It says so many pieces of a good response, and then breaks off; -1 counts from the end.
        case breaks(Int)
        /// Likewise, and then says no more.
        case stops(Int)
    }

    let name: String
    /// The kind and the options of an interceptor for this alone, and what else its item has.
    var item: String?
    var more = ""
    var script = Script.good
    /// Whether the caller brings a time-out, which it cannot in plain HTTP.
    var hasTimeout = false
    /// Whether the request is over the limit.
    var isLarge = false
    /// The protocols in which nothing goes wrong.
    var harmless: Set<RPCProtocol> = []
    /// Whether the upstream says what no protocol has, so that clients differ in what they make of it.
    var isMalformed = false

    var description: String { name }

    /// Whether the call may end well.
    func mayBeOK(_ rpcProtocol: RPCProtocol) -> Bool { harmless.contains(rpcProtocol) }

    /// Whether it has to, as no kind of the chains ends such a call by itself; an end that waits may be waited for or not.
    func mustBeOK(_ rpcProtocol: RPCProtocol) -> Bool {
        mayBeOK(rpcProtocol) && !isMalformed && name != "hold-request-end"
    }

    /// The interceptor, for the calls that ask for it.
    var chainItem: String? {
        item.map { "{name: t-\(name), when: {header: {x-trouble: \(name)}}, \($0)\(more)}" }
    }

    private static let everywhere = Set(RPCProtocol.allCases)
    private static let bare: Set<RPCProtocol> = [.connectUnary, .connectGet, .http]

    /// What an upstream does, and the time.
    static let ofUpstreams = [
        Trouble(name: "none", harmless: everywhere),
        Trouble(name: "error", script: .error),
        Trouble(name: "error-only", script: .errorOnly),
        Trouble(name: "rejects", script: .rejects),
        Trouble(name: "breaks-before", script: .breaks(0)),
        Trouble(name: "breaks-behind-head", script: .breaks(1)),
        Trouble(name: "breaks-behind-message", script: .breaks(2)),
        Trouble(name: "breaks-before-end", script: .breaks(-1)),
        Trouble(name: "garbled", script: .garbled, harmless: bare, isMalformed: true),
        Trouble(name: "endless", script: .endless, harmless: bare, isMalformed: true),
        Trouble(name: "cut", script: .cut, harmless: bare, isMalformed: true),
        Trouble(name: "large", script: .large, harmless: [.http]),
        Trouble(name: "large-request", isLarge: true, harmless: [.http, .connectGet]),
        Trouble(name: "page", script: .page(200), harmless: bare, isMalformed: true),
        Trouble(name: "bad-page", script: .page(503)),
        Trouble(name: "late-before", script: .stops(0), hasTimeout: true),
        Trouble(name: "late-behind-head", script: .stops(1), hasTimeout: true),
        Trouble(name: "late-behind-message", script: .stops(2), hasTimeout: true),
        Trouble(name: "deadline", item: "deadline: {max: 500ms}", script: .stops(0)),
        Trouble(name: "deadline-behind-message", item: "deadline: {max: 500ms}", script: .stops(2)),
    ]

    /// What interceptors do.
    static let ofInterceptors = [
        Trouble(name: "fault", item: "fault: {code: aborted}"),
        Trouble(name: "fault-response", item: "fault: {code: aborted, delay: {time: 1ms, on: response}}"),
        Trouble(name: "fault-reset", item: "fault: {reset: true}"),
        Trouble(name: "cut-0", item: "fault: {cut_after: 0}"),
        Trouble(name: "cut-1", item: "fault: {cut_after: 1, code: data_loss}", harmless: [.http]),
        Trouble(name: "cut-2", item: "fault: {cut_after: 2, code: data_loss}", harmless: bare),
        Trouble(name: "cut-reset", item: "fault: {cut_after: 1, reset: true}", harmless: [.http]),
        Trouble(name: "status", item: rule("status: 200")),
        Trouble(name: "field", item: rule("header: {x-h: '1'}")),
        Trouble(name: "trailer", item: rule("trailer: {x-t: '1'}")),
        Trouble(name: "code-ok", item: rule("code: ok")),
        Trouble(name: "json", item: rule("json: {/a: 1}")),
        Trouble(name: "code-error", item: rule("code: aborted"), script: .error),
        Trouble(name: "failure", item: rule("error: [connect, reset]"), script: .rejects),
        Trouble(name: "request-message", item: "message: {on: request, require: {max: 1B}}", harmless: [.http]),
        Trouble(name: "response-message", item: "message: {on: response, require: {max: 1B}}", harmless: [.http]),
        Trouble(name: "suspended", item: "fault: {delay: 10s}"),
        Trouble(name: "suspended-response", item: "fault: {delay: {time: 10s, on: response}}"),
        Trouble(name: "slow-message", item: "fault: {throttle: 1B}", harmless: [.http]),
        Trouble(name: "reject", item: "reject: {code: aborted, message: no, metadata: {x-why: 'no'}}"),
        Trouble(
            name: "reject-unwind",
            item: "reject: {code: aborted, message: no, metadata: {x-why: 'no'}}",
            more: ", unwind: true"
        ),
        Trouble(name: "limit", item: "limit: {header: 1B}", more: ", unwind: true"),
        Trouble(name: "limit-message", item: "limit: {message: 1B}", more: ", unwind: true", harmless: [.http]),
        Trouble(name: "respond", item: "respond: {json: {a: 1}}", harmless: everywhere),
        Trouble(name: "respond-plain", item: "respond: {status: 503, body: sorry}", isMalformed: true),
        Trouble(
            name: "respond-file",
            item: "respond: {status: 200, body: hi}",
            harmless: everywhere,
            isMalformed: true
        ),
    ]

    private static func rule(_ condition: String) -> String {
        "validate: {rules: [{when: {\(condition)}, fail: {code: out_of_range, message: bad}}]}"
    }

    /// Every event of a call, rejected, and waiting for longer than it may.
    static let ofEvents = ["request", "response"].flatMap { side in
        ["head", "message", "end"].flatMap { event in
            let harmless: Set<RPCProtocol> = event == "message" ? [.http] : []
            // An upstream that knows the length of a request does not wait for its end.
            let isLate = side == "request" && event == "end"
            return [
                Trouble(
                    name: "reject-\(side)-\(event)",
                    item: "gate: {sees: [\(side) \(event)], reject: {\(rejected(side, event)): not_found}}",
                    harmless: harmless
                ),
                Trouble(
                    name: "hold-\(side)-\(event)",
                    item: "gate: {sees: [\(side) \(event)], hold: [\(side) \(event)]}",
                    harmless: isLate ? everywhere : harmless
                ),
            ]
        }
    }

    private static func rejected(_ side: String, _ event: String) -> String {
        event == "message" ? "\(side) message 1" : "\(side) \(event)"
    }

    /// What interceptors do to a response that breaks off.
    static let ofBreaks = ["response message", "response end"].flatMap { event in
        let name = event.replacing(" ", with: "-")
        return [
            Trouble(
                name: "broken-hold-\(name)",
                item: "gate: {sees: [\(event)], hold: [\(event)]}",
                script: .breaks(2)
            ),
            Trouble(
                name: "broken-reject-\(name)",
                item: "gate: {sees: [\(event)], reject: {\(event): not_found, \(event) 2: not_found}}",
                script: .breaks(-1)
            ),
        ]
    }

    static let all = ofUpstreams + ofInterceptors + ofEvents + ofBreaks

    /// Those that there can be in a protocol.
    static func all(in rpcProtocol: RPCProtocol) -> [Trouble] {
        all.filter { rpcProtocol != .http || !$0.hasTimeout }
    }
}

extension Trouble {
    /// Those whose end comes back through the whole chain before anything of it has gone out that would stand in its way.
    static let received = [
        "none", "error", "error-only", "rejects", "breaks-before", "breaks-behind-message", "breaks-before-end",
        "status",
        "field", "trailer", "code-ok", "json", "code-error", "failure", "cut-0", "cut-1", "response-message",
        "fault-response", "reject-unwind", "limit", "limit-message", "respond", "bad-page", "large",
    ]
}
