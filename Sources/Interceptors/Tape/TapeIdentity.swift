internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Proxy

/// What tells a recorded request from others: the call, its first message, and the headers that are to count.
struct TapeIdentity: Sendable {
    /// `pkg.Service/Method`, or the HTTP method and the target.
    let call: [UInt8]
    let first: TapeMessage?
    private let headers: [(name: FieldName, value: [UInt8])]
    private let form: TapeForm

    init(_ document: Section, _ form: TapeForm) {
        self.form = form
        call = Array(document.string("call").utf8)
        let recorded = document.section("request").map("headers")
        headers = form.headers.map { name in
            let value = recorded.first { FieldName($0.name) == name }?.text ?? ""
            return (name, Array(value.utf8))
        }
        first = document.sections("script").first { $0.has("expect") }.map { TapeMessage($0.section("expect")) }
    }

    /// What of the head is not as recorded; none if all is.
    func lackOfHead(_ call: Call) -> String? {
        let request = call.request
        let wrong = headers.first { name, value in
            guard !value.span.equals("***") else { return false }
            guard let index = request.first(name) else { return !value.isEmpty }
            return !request.value(at: index).equals(value)
        }
        return wrong.map { "another header \(String(decoding: $0.name.bytes, as: UTF8.self))" }
    }

    /// What of the first message is not as recorded; none if all is.
    func lackOfMessage(_ context: MockContext) -> String? {
        guard let first else { return context.number == 0 || context.payload.isEmpty ? nil : "no message" }
        guard let place = first.difference(from: context, ignoring: form.ignored) else { return nil }
        return place.isEmpty ? "another message" : "another value at \(place)"
    }
}
