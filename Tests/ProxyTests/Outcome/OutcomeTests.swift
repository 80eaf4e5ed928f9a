import Glibc
import HTTP
import HTTP2Kit
import Protocols
import RPC
import Testing

@testable import Proxy

/// Nothing that fails looks like success: whatever stands in a chain, and whatever goes wrong, the caller's client reports
/// the code that the record has.
@Suite struct OutcomeTests {
    /// Every kind, with what may have a say in how a call ends.
    static let kinds: KeyValuePairs<String, String> = [
        "nothing": "",
        "token": "token: {file: /run/token}",
        "headers-request": "headers: {request: {set: {x-a: '1'}}}",
        "headers-response": "headers: {response: {set: {x-b: '1'}}}",
        "headers-trailers": "headers: {trailers: {add: {x-cost: '1'}}}",
        "headers-code": "when: {code: [aborted, unavailable]}, headers: {trailers: {add: {x-cost: '1'}}}",
        "headers-unary": "when: {code: [ok, aborted]}, applies: unary, headers: {response: {set: {x-b: '1'}}}",
        "rewrite": "rewrite: {authority: other.example}",
        "deadline": "deadline: {max: 1h}",
        "limit": "limit: {rate: 100000/s, concurrency: 100000, message: 1MiB}",
        "metrics": "metrics: {}",
        "log": "log: {to: /dev/null}",
        "redact": "redact: {json: [/secret]}",
        "reject": "when: {header: {x-never: present}}, reject: {code: aborted}",
        "respond": "when: {header: {x-never: present}}, respond: {body: x}",
        "error-metadata": "error: {metadata: {x-m: '1'}}",
        "error-code": "error: {from: [aborted, unavailable], code: resource_exhausted, message: 'later: {message}'}",
        "error-details": "error: {details: drop, message: '{code}'}",
        "validate-next": "validate: {rules: [{when: {code: ok}, next: {}}, {when: {status: 599}, fail: {}}]}",
        "validate-code": "validate: {rules: [{when: {code: aborted}, fail: {code: data_loss}}]}",
        "validate-status": "validate: {rules: [{when: {status: [503]}, fail: {code: data_loss}}]}",
        "validate-json": "validate: {rules: [{when: {json: {/zzz: present}}, fail: {}}]}",
        "validate-trailer": "validate: {rules: [{when: {trailer: {x-zzz: present}}, fail: {}}]}",
        "validate-failure": "validate: {rules: [{when: {error: [connect, reset]}, fail: {code: data_loss}}]}",
        "validate-replace": "validate: {rules: [{when: {status: 200}, replace: {headers: {set: {x-r: '1'}}}}]}",
        "validate-replace-status": "validate: {rules: [{when: {status: 409}, replace: {status: 410}}]}",
        "validate-message": "validate: {rules: [{when: {status: 200}, replace: {json: {a: 1}}}]}",
        "validate-retry":
            "validate: {max_retries: 1, rules: [{when: {code: [aborted, unavailable]}, retry: {allow_non_idempotent: true}}]}",
        "fault": "fault: {percentage: 0, code: aborted, cut_after: 1}",
        "fault-throttle": "fault: {throttle: 1GiB}",
        "fault-header": "fault: {from_header: true}",
        "message-request": "message: {on: request, require: {max: 1MiB}}",
        "message-response": "message: {on: response, tee: /dev/null}",
        "message-replace": #"message: {on: response, replace: {text: '{"a": 1}'}}"#,
        "gate": "gate: {}",
        "gate-serial": "gate: {serial: true}",
        "gate-trailer": "gate: {sees: [response end], trailer: '1'}",
    ]

    /// Plays all troubles with a chain; the interceptors behind those that make trouble are `behind`.
    private func check(
        _ front: [String],
        behind: [String] = [],
        _ rpcProtocol: RPCProtocol,
        _ version: HTTPVersion,
        _ label: String,
        isTight: Bool = false,
        problem: (OutcomeCall, Trouble, RPCProtocol) -> String? = Self.problem
    ) {
        let usesHTTP2 = version == .http2 || rpcProtocol == .grpc
        let witness = "{name: w, gate: {sees: [request head]}}"
        let items =
            [witness] + (front.map { "{\($0)}" }) + Trouble.all.compactMap(\.chainItem) + behind.map { "{\($0)}" }
        let held = isTight ? "held_message: 20B, held_events: 1, held_bytes: 1B" : "held_message: 8KiB"
        let limits = "limits: {request_message: 2KiB, response_message: 2KiB, \(held)}, timeouts: {suspension: 1s}"
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", proxy_status: off, \(limits)}]
            upstream: \(usesHTTP2 ? "h2c" : "http")://127.0.0.1:9000
            interceptors: [\(items.joined(separator: ", "))]
            """
        runProxy(yaml) { harness in
            harness.worker.updateToken("/run/token", Array("one".utf8))
            for trouble in Trouble.all(in: rpcProtocol) {
                let call = OutcomeCall(harness, rpcProtocol, version, usesHTTP2: usesHTTP2, trouble)
                call.run()
                if let problem = problem(call, trouble, rpcProtocol)
                    ?? Self.lostSuccess(call, trouble, rpcProtocol, isTight)
                {
                    Issue.record("\(label) \(rpcProtocol) \(version) \(trouble): \(problem)")
                }
            }
        }
    }

    /// What is wrong with how a call has ended.
    private static func problem(_ call: OutcomeCall, _ trouble: Trouble, _ rpcProtocol: RPCProtocol) -> String? {
        guard let record = call.record else { return "the call is not over; the caller has \(call.view)" }
        guard call.view.isWhole || call.view.isBroken else { return "the caller waits; \(record)" }
        let reported = call.view.code(rpcProtocol)
        let seen = "told \(reported.map { "\($0)" } ?? "broken off"), record \(record), got \(call.view.shown)"
        if !trouble.mayBeOK(rpcProtocol), record.code == .ok || reported == .ok {
            return "a failure looks like success: \(seen)"
        }
        if ["reject", "fault", "limit", "broken-reject-response-end"].contains(trouble.name),
            decider(call) != trouble.name
        {
            guard record.decider.contains("error") || record.decider.contains("validate") else {
                return "somebody else has decided: \(seen)"
            }
        }
        guard let reported else { return record.code == .ok ? "a broken response counts as a success: \(seen)" : nil }
        let agrees = trouble.isMalformed ? (reported == .ok) == (record.code == .ok) : reported == record.code
        return agrees ? nil : "caller and record differ: \(seen)"
    }

    /// What is wrong with the end of a call that nothing is wrong with; where next to nothing may be held, that may end it.
    private static func lostSuccess(
        _ call: OutcomeCall,
        _ trouble: Trouble,
        _ rpcProtocol: RPCProtocol,
        _ isTight: Bool
    ) -> String? {
        guard trouble.mustBeOK(rpcProtocol), let record = call.record else { return nil }
        if isTight, record.code == .resourceExhausted { return nil }
        if record.code == .ok, call.view.code(rpcProtocol) == .ok { return nil }
        return "a success looks like a failure: record \(record), got \(call.view.shown)"
    }

    /// The trouble whose interceptor has decided.
    private static func decider(_ call: OutcomeCall) -> String? {
        call.record?.decider.firstMatch(of: /interceptor\("t-(.*)"\)/).map { String($0.1) }
    }

    @Test(arguments: RPCProtocol.allCases)
    func `with every kind alone, the caller's client reports the code of the record`(_ rpcProtocol: RPCProtocol) {
        for (index, (name, item)) in Self.kinds.enumerated() {
            let items = item.isEmpty ? [] : [item]
            for version in [HTTPVersion.http1, .http2] { check(items, rpcProtocol, version, name) }
            // Behind the trouble a kind has less of a say: a third of them in each protocol.
            guard (index + Int(rpcProtocol.rawValue)) % 3 == 0 else { continue }
            check([], behind: items, rpcProtocol, index % 2 == 0 ? .http1 : .http2, "behind: \(name)")
        }
    }

    @Test(arguments: RPCProtocol.allCases.filter { $0 != .http })
    func `what stands in front of an error has its say, wherever the error is made`(_ rpcProtocol: RPCProtocol) {
        let front = [
            "headers: {trailers: {add: {x-cost: '1'}}}",
            "error: {code: resource_exhausted, message: '{code}', metadata: {x-m: '1'}}",
        ]
        for version in [HTTPVersion.http1, .http2] {
            for chain in [front, front.reversed()] {
                check(chain, rpcProtocol, version, "\(chain)", problem: Self.unheard)
            }
        }
    }

    /// What is wrong with an end that has come through the rules of the test above.
    private static func unheard(_ call: OutcomeCall, _ trouble: Trouble, _ rpcProtocol: RPCProtocol) -> String? {
        guard Trouble.received.contains(trouble.name), let record = call.record else { return nil }
        guard let reported = call.view.code(rpcProtocol) else {
            return record.code == .resourceExhausted ? nil : "\(record)"
        }
        let trailers = call.view.allTrailers(rpcProtocol)
        let isRight = (reported == .ok ? record.code == .ok : reported == .resourceExhausted && trailers["x-m"] == "1")
        return isRight && trailers["x-cost"] == "1" ? nil : "told \(reported), record \(record), got \(call.view.shown)"
    }

    @Test(arguments: RPCProtocol.allCases)
    func `in random chains, the caller's client reports the code of the record`(_ rpcProtocol: RPCProtocol) {
        let given = unsafe getenv("MARTLET_SEED").map { unsafe String(cString: $0) }.flatMap { UInt64($0) }
        let seeds = given.map { [$0] } ?? Array(0..<6)
        for seed in seeds {
            var random = SeededGenerator(seed: seed &* 7 &+ UInt64(rpcProtocol.rawValue))
            let count = Int.random(in: 2...6, using: &random)
            var names: [String] = []
            var items: [String] = []
            for _ in 0..<count {
                let kind = Self.kinds[Int.random(in: 1..<Self.kinds.count, using: &random)]
                names.append(kind.key)
                items.append(kind.value)
            }
            let split = Int.random(in: 0...count, using: &random)
            let version: HTTPVersion = Bool.random(using: &random) ? .http1 : .http2
            let label = "MARTLET_SEED=\(seed): \(names[..<split]) troubles \(names[split...])"
            let (front, behind) = (Array(items[..<split]), Array(items[split...]))
            check(front, behind: behind, rpcProtocol, version, label)
            check(front, behind: behind, rpcProtocol, version, "\(label), next to nothing may be held", isTight: true)
        }
    }
}

extension CallerView {
    /// What the caller has, in short.
    fileprivate var shown: String {
        "\(status) \(fields) \(body.prefix(200).map { 0x20...0x7e ~= $0 ? $0 : 0x2e }.latin1) \(trailers)"
    }
}
