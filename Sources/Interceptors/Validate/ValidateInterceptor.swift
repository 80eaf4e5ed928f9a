internal import Bytes
internal import HTTP
internal import Proxy
internal import RPC

/// Asks the rules about the responses of one worker's calls.
final class ValidateInterceptor: Interceptor {
    typealias CallState = Validation

    private let plan: ValidatePlan
    /// The rules for heads, by the rules that have them.
    private let headerRules: [HeaderRules?]
    private let worker: WorkerServices

    init(_ plan: ValidatePlan, on worker: WorkerServices) {
        (self.plan, self.worker) = (plan, worker)
        headerRules = plan.rules.map { $0.headers.map(HeaderRules.init) }
    }

    private func validation(of call: Call) -> Validation {
        if let known = call[stateOf: self] { return known }
        let new = Validation(plan, headerRules, on: worker)
        call[stateOf: self] = new
        return new
    }

    func requestHead(_ call: Call) -> Verdict {
        call[stateOf: self]?.set(on: call.request)
        return .next
    }

    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict {
        validation(of: call).responseHead(head, call)
    }

    func maxJSON(of message: Message, _ call: Call) -> Int {
        message.number == 1 && validation(of: call).hasCandidates ? .max : 0
    }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        validation(of: call).responseMessage(payload, message, call)
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        validation(of: call).responseEnd(end, call)
    }
}
