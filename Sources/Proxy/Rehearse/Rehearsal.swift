internal import Bytes
internal import Configuration
internal import Credentials
internal import Events
internal import HTTP
internal import Policy
internal import Protocols
internal import RPC
internal import Telemetry
package import Time
package import Types

/// A worker without a network, and with a clock that goes on as soon as nothing is left to do: what it does with calls is
/// what a daemon does with the same configuration, with what is given in place of the world.
///
/// No socket is opened, no name looked up, no program started and no file written. Belongs to one thread.
package final class Rehearsal {
    /// A call that takes longer, by its own clock, does not end.
    private static let patience = 86_400 * Duration.second
    /// Nor does one that is at something so often.
    private static let maxTurns = 1_000_000

    private let plan: Plan
    private let clock: ManualClock
    private let loop: EventLoop
    private let worker: Worker
    private let listeners: [CallerService]
    private let lacks = RehearsalLacks()
    private let parts: [String: RehearsedUpstream]
    private let fetches: RehearsedFetches
    private var manager: CredentialManager?
    private let firstTime: WallTime
    private let start: Instant
    private let givenTokens: [String]

    /// Rehearses a configuration.
    package init(_ plan: Plan, _ givens: RehearsalGivens) {
        self.plan = plan
        clock = ManualClock(now: .start + 1000 * .second)
        (firstTime, start) = (givens.time, clock.now)
        givenTokens = givens.tokens.values.flatMap { $0 }.map { String(decoding: $0.value, as: UTF8.self) }
        clock.wall = givens.time
        loop = EventLoop(clock: .manual(clock))
        let fetches = RehearsedFetches(plan, givens, lacks)
        self.fetches = fetches
        let credentials = RehearsedCredentials()
        let places = RehearsedPlaces()
        worker = Worker(
            loop: loop,
            lineWriters: nil,
            network: NoNetwork(),
            destination: { places.destination(of: $0) },
            credentialRequests: { credentials.manager?.handle($0) }
        )
        worker.services.rehearsed = fetches
        worker.services.random = Xoshiro256(state: (givens.seed, givens.seed &* 3, 7, 1))
        worker.notesEveryCall()
        var parts: [String: RehearsedUpstream] = [:]
        for upstream in plan.settings.upstreams {
            let opening = givens.upstreams[upstream.name]?(worker.services)
            parts[upstream.name] = RehearsedUpstream(upstream.name, opening, lacks)
        }
        self.parts = parts
        places.parts = parts
        let fetcher = Fetcher(loop: loop)
        fetcher.rehearsed = fetches
        let manager = CredentialManager(
            loop: loop,
            fetcher: fetcher,
            publish: { [unowned worker] source, state in worker.update(source, state) },
            log: { _ in }
        )
        credentials.manager = manager
        self.manager = manager
        worker.use(plan, number: 1, routes: RouteTable(plan.settings.routes), tokens: fetches.files)
        manager.use(plan.credentials)
        listeners = plan.settings.listeners.map { [worker] settings in
            CallerService(settings, name: "\(settings.address)", worker: worker)
        }
        settle()
    }

    deinit { manager?.end() }

    /// What was asked for until now and is not given.
    package var missing: [String] { lacks.texts }

    /// The counters, as the metrics page has them: by name and labels.
    package var metrics: [String: Double] {
        let queue = ByteQueue()
        PrometheusText(to: queue).append(worker.snapshot().families(codeNames: RPCCode.allCases.map(\.name)))
        var values: [String: Double] = [:]
        for line in queue.readable.string.split(separator: "\n") {
            // Each name is there, also of what has not been counted yet.
            if line.hasPrefix("# TYPE ") {
                let name = String(line.split(separator: " ")[2])
                for known in [name, name + "_bucket", name + "_sum", name + "_count"] {
                    values[known] = values[known] ?? 0
                }
            }
            guard !line.hasPrefix("#") else { continue }
            guard let gap = line.lastIndex(of: " "), let value = Double(line[line.index(after: gap)...]) else {
                continue
            }
            values[String(line[..<gap])] = value
        }
        return values
    }

    /// A message of the request of a method in Protobuf, of its JSON; none if the method is not known.
    ///
    /// - Throws: an error if the type has no place for the JSON.
    package func message(json: [UInt8], of method: String) throws(MessageError) -> [UInt8]? {
        let path = Array("/\(method)".utf8)
        guard let types = plan.types?.set, let type = types.method(path: path.span)?.request else { return nil }
        let output = ByteQueue()
        try MessageCodec().appendMessage(ofJSON: json.span, type, types, limit: 64 << 20, to: output)
        return output.readable.array
    }

    /// A text without the secrets that the configuration has itself; what was given is none.
    package func masked(_ text: String) -> String {
        secrets.reduce(text) { $0.replacing($1, with: "\(Redactions.mask)") }
    }

    private var secrets: [String] {
        let fixed = plan.credentials.compactMap { named -> String? in
            if case .fixed(let value) = named.source { String(decoding: value, as: UTF8.self) } else { nil }
        }
        return fixed.filter { !$0.isEmpty && !givenTokens.contains($0) }
    }

    // MARK: Time

    /// Lets time pass.
    package func pass(_ time: Duration) {
        let end = clock.now + time
        var turns = 0
        while turns < Self.maxTurns / 100, let due = loop.timers.nextDue, due <= end {
            advance(to: due)
            turns += 1
        }
        // What is due so often is not waited for further.
        advance(to: end)
    }

    private func advance(to time: Instant) {
        clock.now = max(clock.now, time)
        clock.wall = firstTime.adding(saturating: clock.now - start)
        settle()
    }

    /// Does all that is to be done now: what tasks and letters lead to comes a turn later.
    private func settle() {
        for _ in 0..<4 { loop.turn(waiting: false) }
    }

    // MARK: Calls

    /// Makes a call, and lets time pass until it is over.
    package func call(_ request: RehearsedRequest) -> RehearsedCall {
        let began = clock.now
        for part in parts.values {
            part.forgetAttempts()
            part.start = began
        }
        fetches.forgetAttempts()
        fetches.start = began
        let entered = EnteredCall(request, listeners[request.listener], plan)
        var explained: [String] = []
        entered.stream.ended = { [plan] in
            if explained.isEmpty { explained = Explanation(of: entered, by: plan.settings).lines }
        }
        entered.send(request)
        var timer: Timer?
        if let time = request.cancelAfter {
            timer = Timer(on: loop.timers) {
                if explained.isEmpty { explained = Explanation(of: entered, by: self.plan.settings).lines }
                entered.leave()
            }
            timer?.arm(after: time)
        }
        settle()
        var turns = 0
        while !entered.call.isOver, turns < Self.maxTurns, let due = loop.timers.nextDue, due - began < Self.patience {
            advance(to: due)
            turns += 1
        }
        timer?.cancel()
        let isOver = entered.call.isOver
        if !isOver {
            explained = Explanation(of: entered, by: plan.settings).lines
            entered.leave()
        }
        settle()
        lacks.note(interceptors: entered.interceptors)
        return RehearsedCall(
            entered,
            hasEnded: isOver,
            record: worker.recent.last,
            attempts: (parts.values.flatMap(\.attempts) + fetches.attempts).sorted { $0.time < $1.time },
            time: clock.now - began,
            explained: explained,
            givenTokens: givenTokens
        )
    }
}

/// Where the requests for upstreams go in a rehearsal.
private final class RehearsedPlaces {
    var parts: [String: RehearsedUpstream] = [:]

    func destination(of upstream: Upstream) -> Destination {
        parts[upstream.settings.name].map { .rehearsed(upstream, $0) } ?? .none
    }
}

/// The manager of credentials, once it is there.
private final class RehearsedCredentials {
    var manager: CredentialManager?
}

/// Connects to nothing.
final class NoNetwork: Network {
    func connect(to address: SocketAddress) -> Result<any Transport, SystemError> {
        .failure(SystemError(101))
    }
}
