internal import Bytes
internal import HTTP
internal import Protocols
internal import Proxy

/// A call that no rule of a mock is for, and that the upstream serves: what of it is written in the journal.
///
/// Belongs to the worker's thread.
final class PassedCall {
    private let journal: MockRecorder
    private var status = 0
    private var responseForm: FormBody?
    /// The bodies of plain HTTP, up to the longest that the journal has.
    private var (request, response) = (Body(), Body())

    private struct Body {
        var bytes: [UInt8] = []
        var count = 0

        mutating func append(_ more: Span<UInt8>, max: Int) {
            count += more.count
            if count <= max { bytes += more.array } else { bytes = [] }
        }
    }

    init(_ journal: MockRecorder) { self.journal = journal }

    /// The head of a response has come.
    func responded(_ head: HTTPHead, _ call: Call) {
        (status, responseForm) = (head.status, call.form(of: head))
        response = Body()
    }

    /// A message has passed.
    func passed(_ payload: Span<UInt8>, _ message: Message, _ call: Call) {
        // The error of Connect is no message.
        guard message.direction == .request || !call.rpcProtocol.isUnaryConnect || status == 200 else { return }
        journal.passed(payload.array, message.json(payload, call), message.direction, at: call.now)
    }

    /// Bytes of plain HTTP have passed.
    func passed(_ bytes: Span<UInt8>, _ direction: Direction) {
        if direction == .request {
            request.append(bytes, max: journal.maxMessage)
        } else {
            response.append(bytes, max: journal.maxMessage)
        }
    }

    /// The request is complete.
    func closed(_ call: Call) {
        if request.count > 0 {
            let form = call.form(of: call.request)
            journal.passed(plain: request.bytes, count: request.count, .request, form: form, at: call.now)
        }
        journal.closed(at: call.now)
    }

    /// The call is over.
    func finished(_ call: Call) {
        let isPlain = call.rpcProtocol == .http && status > 0
        if response.count > 0 {
            journal.passed(
                plain: response.bytes,
                count: response.count,
                .response,
                isError: call.isError(status: status),
                form: responseForm,
                at: call.now
            )
        }
        journal.ended(isPlain ? .response(status) : .status(call.code, call.message), at: call.now)
    }

    /// The call is retried.
    func retried(_ call: Call) { journal.ended(.failed("the call was retried"), at: call.now) }
}
