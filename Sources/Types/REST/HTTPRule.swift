/// What the option `google.api.http` says of a method: one way to call it by a path (`google/api/http.proto`, HttpRule).
struct HTTPRule: Equatable {
    /// The number of the option in MethodOptions.
    private static let option: UInt64 = 72_295_728

    /// The HTTP method, as `GET`; `*` for any.
    var httpMethod = ""
    /// The template of the path, as `/v1/{name=shelves/*}`.
    var template = ""
    /// The field that the body of a request is; `*` for the whole message, empty for none.
    var body = ""
    /// The field that the body of a response is; empty for the whole message.
    var responseBody = ""

    /// Reads the rules of a method: its first one, and those that are added to it.
    ///
    /// - Parameter options: the MethodOptions in the wire format.
    /// - Returns: the rules that have a path, in their order.
    static func all(in options: [UInt8]) -> [HTTPRule] {
        // An option that is there in parts is their sum (Protobuf, "Last One Wins").
        let (first, added) = rules(in: fields(options).filter { $0.number == option }.flatMap(\.bytes))
        return ([first] + added).filter { !$0.httpMethod.isEmpty }
    }

    /// Reads a rule, and those that are added to it, which have no others within.
    private static func rules(in message: [UInt8]) -> (first: HTTPRule, added: [HTTPRule]) {
        var (rule, added) = (HTTPRule(), [HTTPRule]())
        for (number, bytes) in fields(message) {
            let text = String(decoding: bytes, as: UTF8.self)
            switch number {
            case 2: (rule.httpMethod, rule.template) = ("GET", text)
            case 3: (rule.httpMethod, rule.template) = ("PUT", text)
            case 4: (rule.httpMethod, rule.template) = ("POST", text)
            case 5: (rule.httpMethod, rule.template) = ("DELETE", text)
            case 6: (rule.httpMethod, rule.template) = ("PATCH", text)
            case 7: rule.body = text
            case 8: (rule.httpMethod, rule.template) = custom(bytes)
            case 11: added.append(rules(in: bytes).first)
            case 12: rule.responseBody = text
            default: break
            }
        }
        return (rule, added)
    }

    /// A method of another name.
    private static func custom(_ message: [UInt8]) -> (httpMethod: String, template: String) {
        var (kind, path) = ("", "")
        for (number, bytes) in fields(message) {
            let text = String(decoding: bytes, as: UTF8.self)
            if number == 1 { kind = text } else if number == 2 { path = text }
        }
        return (kind, path)
    }

    /// The fields of a message that are texts, bytes or messages, up to the first byte that is no field.
    private static func fields(_ message: [UInt8]) -> [(number: UInt64, bytes: [UInt8])] {
        var found: [(number: UInt64, bytes: [UInt8])] = []
        var fields = WireFields(0..<message.count)
        while let field = try? fields.next(in: message.span) {
            if case .bytes(let range) = field.value { found.append((field.number, Array(message[range]))) }
        }
        return found
    }
}
