internal import Configuration
internal import Credentials
internal import Events
package import Time

/// What is given to a rehearsal in place of the world: upstreams, tokens, responses to calls of our own, and the time.
package struct RehearsalGivens {
    /// What a fetch of a token brings.
    package struct Token {
        let value: [UInt8]
        let lifetime: Duration?
        /// Why it brings none, if it does not.
        let error: String?

        /// Describes what a fetch brings.
        package init(value: [UInt8], lifetime: Duration?, error: String?) {
            (self.value, self.lifetime, self.error) = (value, lifetime, error)
        }
    }

    /// The response to a call of our own.
    package struct Response {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: [UInt8]

        /// Describes a response.
        package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
            (self.status, self.headers, self.body) = (status, headers, body)
        }
    }

    /// What the fetches of tokens bring, one after the other, by the names of interceptors; the last one again and again.
    package var tokens: [String: [Token]] = [:]
    /// What serves the calls of upstreams, by their names, made for the one worker.
    package var upstreams: [String: (WorkerServices) -> LocalUpstream.Opening] = [:]
    /// The responses to the calls of `calls`, by their names.
    package var calls: [String: Response] = [:]
    /// The time of day at which it begins.
    package var time = WallTime(secondsSince1970: 1_767_225_600)
    /// What all chance comes from.
    package var seed: UInt64 = 1

    /// Gives nothing.
    package init() {}
}

/// What was asked for in a rehearsal and not given.
final class RehearsalLacks {
    private(set) var texts: [String] = []
    /// What lacks of tokens, by the names of their interceptors: no call may need them.
    private var tokens: [String: String] = [:]

    func note(_ text: String) {
        if !texts.contains(text) { texts.append(text) }
    }

    /// There is no token for interceptors.
    func note(_ text: String, tokensOf names: [String]) {
        for name in names { tokens[name] = text }
    }

    /// A call has come to these interceptors.
    func note(interceptors: [String]) {
        for name in interceptors { if let text = tokens[name] { note(text) } }
    }
}

/// Responds to what a worker would fetch.
final class RehearsedFetches {
    private let plan: Plan
    private let givens: RehearsalGivens
    private let lacks: RehearsalLacks
    private var fetched: [String: Int] = [:]
    /// The requests that named calls have made of the call.
    private(set) var attempts: [RehearsedAttempt] = []
    /// When the call began.
    var start = Instant.start

    init(_ plan: Plan, _ givens: RehearsalGivens, _ lacks: RehearsalLacks) {
        (self.plan, self.givens, self.lacks) = (plan, givens, lacks)
    }

    /// What a fetch of a credential brings.
    func credential(_ source: CredentialSource, at now: WallTime) -> Result<Credential, CredentialError> {
        let names = plan.credentials.filter { $0.source == source }.map(\.name)
        guard let name = names.first(where: { givens.tokens[$0]?.isEmpty == false }), let tokens = givens.tokens[name]
        else {
            let text = "no token for \(names.first ?? source.kind); add it to given.tokens"
            lacks.note(text, tokensOf: names)
            return .failure(CredentialError(text))
        }
        let count = fetched[name] ?? 0
        fetched[name] = count + 1
        let token = tokens[min(count, tokens.count - 1)]
        if let error = token.error { return .failure(CredentialError(error)) }
        let end = token.lifetime.map { now.adding(saturating: $0) }
        do throws(CredentialResponseError) {
            return .success(try CredentialResponse.credential(token.value, until: end, at: now))
        } catch {
            return .failure(CredentialError(error.text))
        }
    }

    /// The tokens of files, by their paths.
    var files: [String: [UInt8]?] {
        var files: [String: [UInt8]?] = [:]
        for named in plan.credentials {
            guard let path = named.source.path else { continue }
            files.updateValue(givens.tokens[named.name]?.first?.value, forKey: path)
        }
        return files
    }

    func forgetAttempts() { attempts = [] }

    /// A named call makes a request of the call.
    func note(_ request: FetchRequest, at now: Instant) {
        var attempt = RehearsedAttempt(
            upstream: request.call ?? "",
            time: now - start,
            method: request.method,
            target: String(decoding: request.target, as: UTF8.self),
            headers: request.fields.map { ($0.name, String(decoding: $0.value, as: UTF8.self)) }
        )
        if case .bytes(let body) = request.body, !body.isEmpty { attempt.messages = [body] }
        attempts.append(attempt)
    }

    /// The response to a call of our own.
    func response(_ request: FetchRequest, _ server: FetchServer) -> Result<FetchedResponse, FetchError> {
        guard let name = request.call, let given = givens.calls[name] else {
            let text = "no response for call \(request.call ?? server.settings.name); add it to given.calls"
            lacks.note(text)
            return .failure(FetchError(text: text))
        }
        let fields = given.headers.map { FetchRequest.Field($0.name.lowercased(), Array($0.value.utf8)) }
        return .success(FetchedResponse(status: given.status, fields: fields, body: given.body))
    }
}
