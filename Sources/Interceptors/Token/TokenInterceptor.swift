internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Proxy
internal import RPC
internal import Telemetry
internal import Time

/// Puts the credential into the requests of one worker.
final class TokenInterceptor: Interceptor {
    /// The credential of one call, where the call has a say in what that is.
    typealias CallState = CachedCredential

    private let source: TokenTemplate?
    /// The credential, where it is the same for all calls.
    private let shared: CachedCredential?
    private let credentials: CredentialStore
    private let header: FieldName
    private let format: TokenFormat
    private let bounds: TokenBounds
    private let error: OnError
    private let waitTimeout: Duration
    private var value: [UInt8] = []
    private var version = -1

    init(_ plan: TokenPlan, on worker: WorkerServices) {
        (source, header, format) = (plan.source, plan.header.copy, plan.format)
        (bounds, error, waitTimeout) = (plan.bounds, plan.error, plan.waitTimeout)
        credentials = worker.credentials
        shared = plan.source?.constant.map { worker.credentials.credential(named: $0) }
    }

    // MARK: The request

    func requestHead(_ call: Call) -> Verdict {
        guard case .perCall(let source) = source else { return requestHead(call, shared) }
        // Once for each attempt, before the token is put in: the header that carries it may be what it is made of.
        call[stateOf: self] = nil
        switch source(call) {
        case .success(let source):
            let credential = credentials.credential(source)
            call[stateOf: self] = credential
            return requestHead(call, credential)
        case .failure(let lack): return requestHead(call, nil, lack)
        }
    }

    /// The credential of a call whose request has come.
    private func credential(of call: Call) -> CachedCredential? { shared ?? call[stateOf: self] }

    private func requestHead(_ call: Call, _ credential: CachedCredential?, _ lack: TemplateLack? = nil) -> Verdict {
        switch bounds.ruling(on: call) {
        case .proceed: break
        case .leave: return .next
        case .withhold(let cause): return error.verdict(cause)
        case .reject(let error): return .reject(error)
        }
        if case .ambiguous(let name) = lack { return .reject(.twice(name)) }
        guard let credential else { return error.verdict("the request does not have a value that its token needs") }
        let upstream = call.upstream
        if credential.isGood(for: upstream) { return put(credential, call) }
        guard !cannotSucceed(credential) else { return missing(credential) }
        return wait(for: credential, call, until: { [unowned self] in $0.isGood(for: upstream) || cannotSucceed($0) }) {
            [unowned self] credential, _ in
            credential.isGood(for: upstream) ? put(credential, call) : missing(credential)
        }
    }

    private func cannotSucceed(_ credential: CachedCredential) -> Bool { credential.cannotSucceed(within: waitTimeout) }

    private func put(_ credential: CachedCredential, _ call: Call) -> Verdict {
        guard shared != nil else {
            call.request.set(header, format.header(credential.value ?? []).span)
            return .next
        }
        if credential.version != version {
            version = credential.version
            value = format.header(credential.value ?? [])
        }
        let value = value
        call.request.set(header, configured: value.span)
        return .next
    }

    private func missing(_ credential: CachedCredential) -> Verdict {
        error.verdict(credential.lack)
    }

    /// Lets the call wait until the credential is good, or there is no hope, or it has waited as long as it may.
    private func wait(
        for credential: CachedCredential,
        _ call: Call,
        until isDone: @escaping (CachedCredential) -> Bool,
        then: @escaping (CachedCredential, ResponseEnd?) -> Verdict
    ) -> Verdict {
        let suspension = Suspension()
        var number = 0
        var timer: Timer?
        let end = {
            credential.leave(number)
            timer?.cancel()
        }
        number = credential.wait {
            guard isDone(credential) else { return }
            end()
            suspension.resume { then(credential, $0.end) }
        }
        suspension.canceled = end
        if waitTimeout < .max {
            timer = call.timer(after: waitTimeout) {
                credential.leave(number)
                suspension.resume { then(credential, $0.end) }
            }
        }
        credentials.adopt(credential)
        credential.request()
        return .suspend(suspension)
    }

    // MARK: The response

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        head.isUnauthenticated ? rejected(call, nil) : .next
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        end.code == .unauthenticated ? rejected(call, end) : .next
    }

    /// The upstream has not taken the token: with another one the call is retried, once.
    ///
    /// If the same one comes again, the upstream has its reasons. If none comes that is good, it is not the caller who is
    /// unknown.
    private func rejected(_ call: Call, _ end: ResponseEnd?) -> Verdict {
        guard call.hasUpstreamResponse, call.retries == 0, call.markEvaluated(),
            let credential = credential(of: call)
        else { return .next }
        // What the caller has sent itself is its own business.
        guard let used = format.token(in: call.request, header), credential.hasBeen(used) else { return .next }
        let upstream = call.upstream
        credentials.adopt(credential)
        credential.rejected(used, by: upstream)
        if let skipReason = call.retrySkipReason {
            call.skipRetry(.unauthenticated, skipReason)
            return .next
        }
        let isSettled = { [unowned self] (credential: CachedCredential) in
            // The one that was rejected stays if no other could be fetched, as others may take it.
            guard credential.value == used else { return credential.isGood(for: upstream) || cannotSucceed(credential) }
            return !credential.isRejected(by: upstream) && (credential.error == nil || cannotSucceed(credential))
        }
        guard !isSettled(credential) else { return again(call, credential, used, end) }
        return wait(for: credential, call, until: isSettled) { [unowned self] credential, end in
            again(call, credential, used, end)
        }
    }

    private func again(_ call: Call, _ credential: CachedCredential, _ used: [UInt8], _ end: ResponseEnd?) -> Verdict {
        let upstream = call.upstream
        if credential.value != used, credential.isGood(for: upstream) { return .retry(.unauthenticated) }
        call.skipRetry(.unauthenticated, .credential)
        let isSame = credential.value == used && !credential.isRejected(by: upstream) && credential.error == nil
        guard !isSame, case .reject(let error) = missing(credential) else { return .next }
        return .failing(error, end)
    }

    /// A call is over that was retried with another token.
    func finished(_ call: Call) {
        guard call.hasUpstreamResponse, call.code.showsAcceptedToken else { return }
        credential(of: call)?.accepted(by: call.upstream)
    }
}

extension RPCCode {
    /// Whether an upstream that ends a call like this has accepted its token: others respond so before they look at it.
    fileprivate var showsAcceptedToken: Bool {
        switch self {
        case .ok, .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition, .aborted,
            .outOfRange, .dataLoss:
            true
        case .canceled, .unknown, .deadlineExceeded, .resourceExhausted, .unimplemented, .internal, .unavailable,
            .unauthenticated:
            false
        }
    }
}

extension HTTPHead {
    private static let grpcStatus = FieldName("grpc-status")

    /// Whether it says that the caller is not known, in HTTP or in gRPC.
    fileprivate var isUnauthenticated: Bool {
        if status == 401 { return true }
        guard let index = first(Self.grpcStatus) else { return false }
        return value(at: index).equals("16")
    }
}
