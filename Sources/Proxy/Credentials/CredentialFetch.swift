internal import Bytes
internal import Configuration
internal import Credentials
internal import Events
internal import HTTP
internal import Policy
internal import RPC
internal import TLS
internal import Time

/// One fetch of a credential: reads the secrets that it takes, asks, and reads the response.
///
/// Belongs to its loop's thread.
final class CredentialFetch {
    typealias Completion = (Result<Credential, CredentialError>) -> Void

    private let source: CredentialSource
    private let fetcher: Fetcher
    private let loop: EventLoop
    private var done: Completion?
    private var secrets: [Secret: [UInt8]] = [:]
    private var process: Subprocess?
    private var fetch: Fetch?
    private var began = Instant.start

    /// Makes one; `done` is called once, unless it is cancelled, and maybe before `start` has returned.
    init(_ source: CredentialSource, with fetcher: Fetcher, on loop: EventLoop, done: @escaping Completion) {
        self.source = source
        self.fetcher = fetcher
        self.loop = loop
        self.done = done
    }

    deinit {
        cancel()
    }

    func start() {
        began = loop.now
        if let rehearsed = fetcher.rehearsed { return end(rehearsed.credential(source, at: beginning)) }
        resolve(source.secrets[...])
    }

    /// The time of day at which it began, by the system clock as it is set now.
    ///
    /// A lifetime counts from here. It is the same whenever somebody sets the clock, also if that is during the fetch.
    private var beginning: WallTime { loop.clock.wall - (loop.now - began) }

    /// Ends it; nobody is told.
    func cancel() {
        done = nil
        process?.cancel()
        fetch?.cancel()
        (process, fetch) = (nil, nil)
    }

    private func end(_ result: Result<Credential, CredentialError>) {
        let done = done
        self.done = nil
        done?(result)
    }

    private func fail(_ text: String) {
        end(.failure(CredentialError(text)))
    }

    // MARK: Secrets

    private func resolve(_ rest: ArraySlice<Secret>) {
        var rest = rest
        guard let secret = rest.popFirst() else { return ask() }
        switch secret {
        case .value(let bytes): secrets[secret] = bytes
        case .file(let path):
            switch SmallFile.read(path, limit: Secret.limit) {
            case .success(let content): secrets[secret] = content.span.trimmedOfWhiteSpace.array
            case .failure(let error): return fail("\(path): \(error.text)")
            }
        case .exec(let command):
            return run(command, [:], timeout: 10 * .second) { [unowned self] output in
                secrets[secret] = output.span.trimmedOfWhiteSpace.array
                resolve(rest)
            }
        }
        resolve(rest)
    }

    private func run(
        _ command: [String],
        _ environment: [String: String],
        timeout: Duration?,
        then: @escaping ([UInt8]) -> Void
    ) {
        let process = Subprocess(on: loop, limit: Secret.limit) { [unowned self] outcome in
            self.process = nil
            switch outcome {
            case .ended(0, let output): then(output)
            case .ended(let status, _): fail("\(command[0]) exited with status \(status)")
            case .notStarted(let error): fail("\(command[0]): \(error.text)")
            case .tooSlow: fail("\(command[0]) exceeded its time limit")
            case .tooMuch: fail("\(command[0]) wrote more than 64 KiB")
            }
        }
        self.process = process
        process.start(command, environment: environment, timeout: timeout)
    }

    // MARK: Asking

    private func ask() {
        switch source {
        case .fixed(let value): end(.success(Credential(value: value, expiry: JWT.expiry(of: value))))
        case .file(let path): readFile(path)
        case .jwt(let source): sign(source)
        case .exec(let source):
            run(source.command, source.environment, timeout: source.timeout) { [unowned self] output in
                read { start throws(CredentialResponseError) in try source.response.credential(in: output, at: start) }
            }
        case .http(let source): ask(source)
        }
    }

    private func readFile(_ path: String) {
        guard let content = secrets[.file(path)], let token = TokenText.token(in: content) else {
            return fail("\(path) is empty, or its content is not valid in a header")
        }
        end(.success(Credential(value: token, expiry: JWT.expiry(of: token))))
    }

    private func sign(_ source: JWTSource) {
        do throws(CredentialError) {
            let value = try signed(source.claims, by: source.signing)
            end(.success(Credential(value: value, expiry: JWT.expiry(of: value))))
        } catch {
            end(.failure(error))
        }
    }

    private func signed(_ claims: JWTClaims, by source: SigningSource) throws(CredentialError) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let members = claims.members(at: beginning, id: JWTClaims.makeID(using: &random))
        do throws(TLSMaterialError) {
            let key = try SigningKey(pem: secrets[source.key] ?? [], algorithm: source.algorithm)
            return try JWT(keyID: source.keyID, claims: members).signed(by: key)
        } catch {
            throw CredentialError("the signing key: \(error.text)", isRejection: true)
        }
    }

    private func ask(_ source: HTTPSource) {
        do throws(CredentialError) {
            let request = try request(source)
            let (server, limit, timeout) = (source.server, TokenText.limit, source.timeout)
            fetch = fetcher.fetch(request, from: server, limit: limit, timeout: timeout) { [unowned self] result in
                fetch = nil
                switch result {
                case .failure(let error): fail(error.text)
                case .success(let response): read(response, source)
                }
            }
        } catch {
            end(.failure(error))
        }
    }

    // MARK: What is sent

    private func request(_ source: HTTPSource) throws(CredentialError) -> FetchRequest {
        var request = source.request
        var form = source.form.map { ($0.name, secrets[$0.value] ?? []) }
        switch source.authentication {
        case .none: break
        case .id(let id): form.append(("client_id", Array(id.utf8)))
        case .bearer(let secret):
            request.fields.append(.init("authorization", Array("Bearer ".utf8) + (secrets[secret] ?? [])))
        case .basic(let id, let secret): request.fields.append(.init("authorization", basic(id, secret)))
        case .post(let id, let secret):
            form += [("client_id", Array(id.utf8)), ("client_secret", secrets[secret] ?? [])]
        case .privateKeyJWT(let id, let signing):
            let claims = JWTClaims.clientAssertion(clientID: id, audience: source.audience)
            let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            form += [
                ("client_id", Array(id.utf8)), ("client_assertion_type", Array(type.utf8)),
                ("client_assertion", try signed(claims, by: signing)),
            ]
        }
        guard !form.isEmpty else { return request }
        request.fields.append(.init("content-type", Array("application/x-www-form-urlencoded".utf8)))
        request.body = .bytes(FormEncoding.encode(form))
        return request
    }

    private func basic(_ id: String, _ secret: Secret) -> [UInt8] {
        // Both are encoded as in a form first (RFC 6749 §2.3.1); a space as %20, which servers decode that know no +.
        let encoded = ByteQueue()
        let user = Array(id.utf8)
        encoded.append(escaping: user.span)
        encoded.append(":")
        let password = secrets[secret] ?? []
        encoded.append(escaping: password.span)
        let pair = encoded.readable.array
        let queue = ByteQueue()
        queue.append("Basic ")
        queue.append(base64: pair.span, padded: true)
        return queue.readable.array
    }

    // MARK: What comes back

    private func read(_ response: FetchedResponse, _ source: HTTPSource) {
        let now = loop.clock.wall
        let field = response.fields.first { $0.name == "retry-after" }
        let retryAfter = field.flatMap { RetryAfter.time($0.value.span, now: now) }
        do throws(CredentialResponseError) {
            let form = source.response
            end(.success(try form.credential(status: response.status, body: response.body, at: beginning)))
        } catch {
            let isRejection = 400..<500 ~= response.status && response.status != 408 && response.status != 429
            let text = "\(source.server.settings.url): \(error.text)"
            end(.failure(CredentialError(text, isRejection: isRejection, retryAfter: retryAfter)))
        }
    }

    private func read(_ reading: (WallTime) throws(CredentialResponseError) -> Credential) {
        do throws(CredentialResponseError) {
            end(.success(try reading(beginning)))
        } catch {
            // A program that writes something else will not do better soon.
            end(.failure(CredentialError(error.text, isRejection: error != .expired)))
        }
    }
}

extension CredentialSource {
    /// The secrets that a fetch takes.
    var secrets: [Secret] {
        switch self {
        case .fixed, .exec: return []
        case .file(let path): return [.file(path)]
        case .jwt(let source): return [source.signing.key]
        case .http(let source):
            let parameters = source.form.map(\.value)
            switch source.authentication {
            case .none, .id: return parameters
            case .bearer(let secret), .basic(_, let secret), .post(_, let secret): return parameters + [secret]
            case .privateKeyJWT(_, let signing): return parameters + [signing.key]
            }
        }
    }
}

extension HTTPSource {
    /// Whom assertions are for: the URL that they are sent to.
    fileprivate var audience: String {
        let url = server.settings.authority.map { "\(server.settings.url.scheme.rawValue)://\($0)" } ?? ""
        return url + String(decoding: request.target, as: UTF8.self)
    }
}
