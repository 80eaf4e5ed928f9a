internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import RPC
internal import Telemetry

/// Puts a credential into a header of every request, and has a call retried whose credential the upstream has refused.
final class TokenInterceptor: Interceptor, Redacting {
    let events: EventSet
    private let source: TokenTemplate?
    /// The credential, where it is the same for all calls.
    private let slot: CredentialSlot?
    private let credentials: CredentialStore
    private let header: FieldName
    private let format: TokenFormat
    private let bounds: TokenBounds
    private let failure: OnFailure
    private let patience: Nanoseconds
    private var value: [UInt8] = []
    private var version = -1

    init(_ section: Section, _ context: CompileContext) {
        header = HeaderName.checked(section.string("header"), at: "header", of: section)
        format = TokenFormat(section)
        bounds = TokenBounds(section, header: header, context.acquired)
        failure = OnFailure(section)
        patience = section.duration("wait").map { Nanoseconds($0) } ?? .max
        credentials = context.credentials
        source = TokenTemplate(section, context)
        let ahead = section.duration("refresh_ahead").map { Nanoseconds($0) } ?? 0
        if case .constant(let source) = source {
            slot = context.credentials.slot(source, name: context.name, refreshAhead: ahead)
        } else {
            slot = nil
        }
        let mayRetry = section.bool("retry") && (slot?.source.mayChange ?? true)
        events = mayRetry ? [.requestHead, .failures, .retries, .finishedRetries] : .requestHead
    }

    var redactions: Redactions { Redactions(headers: [header] + bounds.secretHeaders) }

    func objection(to upstream: UpstreamSettings) -> String? { bounds.objection(to: upstream) }

    // MARK: The request

    func forCall() -> any Interceptor { slot == nil && source != nil ? TokenOfCall(self) : self }

    func requestHead(_ call: Call) -> Verdict { requestHead(call, slot) }

    /// The slot of the credential of one call.
    fileprivate func slot(for call: Call) throws(TemplateLack) -> CredentialSlot? {
        guard case .perCall(let source) = source else { return slot }
        return credentials.slot(try source(call).get())
    }

    fileprivate func requestHead(_ call: Call, _ slot: CredentialSlot?, _ lack: TemplateLack? = nil) -> Verdict {
        switch bounds.ruling(on: call) {
        case .proceed: break
        case .leave: return .next
        case .withhold(let cause): return failure.verdict(cause)
        case .reject(let error): return .reject(error)
        }
        if case .ambiguous(let name) = lack { return .reject(.twice(name)) }
        guard let slot else { return failure.verdict("the call does not have what its token is made of") }
        let upstream = call.route.upstream
        if slot.isGood(for: upstream) { return put(slot, call) }
        guard !isHopeless(slot) else { return missing(slot) }
        return wait(for: slot, call, until: { [unowned self] in $0.isGood(for: upstream) || isHopeless($0) }) {
            [unowned self] slot, _ in
            slot.isGood(for: upstream) ? put(slot, call) : missing(slot)
        }
    }

    private func isHopeless(_ slot: CredentialSlot) -> Bool { slot.isHopeless(within: patience) }

    private func put(_ slot: CredentialSlot, _ call: Call) -> Verdict {
        guard self.slot != nil else {
            call.request.set(header, format.header(slot.value ?? []).span)
            return .next
        }
        if slot.version != version {
            version = slot.version
            value = format.header(slot.value ?? [])
        }
        let value = value
        call.request.set(header, value.span)
        return .next
    }

    private func missing(_ slot: CredentialSlot) -> Verdict {
        failure.verdict(slot.lack)
    }

    /// Lets the call wait until the credential is good, or there is no hope, or it has waited as long as it may.
    private func wait(
        for slot: CredentialSlot,
        _ call: Call,
        until isDone: @escaping (CredentialSlot) -> Bool,
        then: @escaping (CredentialSlot, ResponseEnd?) -> Verdict
    ) -> Verdict {
        let suspension = Suspension()
        var number = 0
        var timer: Timer?
        let end = {
            slot.leave(number)
            timer?.cancel()
        }
        number = slot.wait {
            guard isDone(slot) else { return }
            end()
            suspension.resume { then(slot, $0.end) }
        }
        suspension.canceled = end
        if patience < .max {
            timer = call.timer(after: patience) {
                slot.leave(number)
                suspension.resume { then(slot, $0.end) }
            }
        }
        credentials.adopt(slot)
        slot.want()
        return .suspend(suspension)
    }

    // MARK: The response

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        head.isUnauthenticated ? refused(call, slot, nil) : .next
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        end.code == .unauthenticated ? refused(call, slot, end) : .next
    }

    /// The upstream has not taken the token: with another one the call is retried, once.
    ///
    /// If the same one comes again, the upstream has its reasons. If none comes that is good, it is not the caller who is
    /// unknown.
    fileprivate func refused(_ call: Call, _ slot: CredentialSlot?, _ end: ResponseEnd?) -> Verdict {
        guard call.hasUpstreamResponse, call.retries == 0, call.run.judge(), let slot else { return .next }
        // What the caller has sent itself is its own business.
        guard let used = format.token(in: call.request, header), slot.hasBeen(used) else { return .next }
        let upstream = call.route.upstream
        slot.refused(used, by: upstream)
        if let skipReason = call.retrySkipReason {
            call.skipRetry(.unauthenticated, skipReason)
            return .next
        }
        let isSettled = { [unowned self] (slot: CredentialSlot) in
            // The one that was refused stays if no other could be fetched, as others may take it.
            guard slot.value == used else { return slot.isGood(for: upstream) || isHopeless(slot) }
            return !slot.isRejected(by: upstream) && (slot.failure == nil || isHopeless(slot))
        }
        guard !isSettled(slot) else { return again(call, slot, used, end) }
        return wait(for: slot, call, until: isSettled) { [unowned self] slot, end in again(call, slot, used, end) }
    }

    private func again(_ call: Call, _ slot: CredentialSlot, _ used: [UInt8], _ end: ResponseEnd?) -> Verdict {
        let upstream = call.route.upstream
        if slot.value != used, slot.isGood(for: upstream) { return .retry(.unauthenticated) }
        call.skipRetry(.unauthenticated, .credential)
        let isSame = slot.value == used && !slot.isRejected(by: upstream) && slot.failure == nil
        guard !isSame, case .reject(let error) = missing(slot) else { return .next }
        return .failing(error, end)
    }

    /// A call is over that was retried with another token.
    func finished(_ call: Call) { finished(call, slot) }

    fileprivate func finished(_ call: Call, _ slot: CredentialSlot?) {
        guard call.hasUpstreamResponse, call.record.code.showsThatTokenIsTaken else { return }
        slot?.accepted(by: call.route.upstream)
    }
}

extension RPCCode {
    /// Whether an upstream that ends a call like this has accepted its token: others respond so before they look at it.
    fileprivate var showsThatTokenIsTaken: Bool {
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

/// The token of one call, where the call has a say in what that is.
///
/// What it was made of is asked once for each attempt, before the token is put in: it may be the header that carries it.
private final class TokenOfCall: Interceptor {
    private let token: TokenInterceptor
    private var slot: CredentialSlot?

    init(_ token: TokenInterceptor) {
        self.token = token
    }

    var events: EventSet { token.events }

    func requestHead(_ call: Call) -> Verdict {
        slot = nil
        do throws(TemplateLack) {
            slot = try token.slot(for: call)
            return token.requestHead(call, slot)
        } catch {
            return token.requestHead(call, nil, error)
        }
    }

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        head.isUnauthenticated ? token.refused(call, slot, nil) : .next
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        end.code == .unauthenticated ? token.refused(call, slot, end) : .next
    }

    func finished(_ call: Call) { token.finished(call, slot) }
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
