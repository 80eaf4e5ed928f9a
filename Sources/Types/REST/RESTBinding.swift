public import Bytes

/// One path by which a method can be called.
public final class RESTBinding: Sendable {
    /// What a request or a response has as its body.
    public enum Body: Sendable {
        /// Nothing; a response always has one.
        case none
        /// The message.
        case message
        /// One field of it.
        case field(FieldPath)
    }

    /// A part of the path that is the value of a field.
    public struct Variable: Sendable {
        /// The field.
        public let field: FieldPath
        /// Whether it is more than one segment: a `/` that is escaped in it stays so.
        public let isPath: Bool
        let segments: Range<Int>
    }

    /// The method.
    public let method: MethodType
    /// The HTTP method and the template, as `GET /v1/{name=shelves/*}`.
    public let text: String
    /// The fields that come in the path.
    public let variables: [Variable]
    /// What the body of a request is.
    public let body: Body
    /// What the body of a response is.
    public let responseBody: Body

    /// The HTTP method; `*` for any.
    public let httpMethod: [UInt8]
    let template: PathTemplate

    /// Binds a method to a path.
    ///
    /// - Parameters:
    ///   - rule: what the definition says.
    ///   - method: the method.
    /// - Throws: what is wrong with the rule.
    init(_ rule: HTTPRule, _ method: MethodType) throws(TypeSetError.Problem) {
        let text = "\(rule.httpMethod) \(rule.template)".shown(256)
        func problem(_ what: String) -> TypeSetError.Problem {
            TypeSetError.Problem(source: "", text: "\(method.fullName) cannot be called by \(text): \(what)")
        }
        guard let template = PathTemplate(rule.template) else { throw problem("the path is not a valid template") }
        guard rule.httpMethod.utf8.allSatisfy(\.isTokenByte) else { throw problem("the HTTP method is not valid") }
        guard !method.requestStreams else { throw problem("it has a stream of requests") }
        self.text = text
        self.method = method
        self.template = template
        httpMethod = Array(rule.httpMethod.utf8)
        var variables: [Variable] = []
        for variable in template.variables {
            let name = variable.field.joined(separator: ".")
            guard let field = method.request.fieldPath(variable.field) else {
                throw problem("\(method.request.name) has no field \(name.shown(128))")
            }
            guard field.form != nil, !field.isList else {
                let words = "cannot stand in a path, as it is a list, a map or a message"
                throw problem("the field \(name.shown(128)) \(words)")
            }
            let segments = variable.segments
            let isPath = segments.count > 1 || template.segments[segments.lowerBound] == .rest
            variables.append(Variable(field: field, isPath: isPath, segments: segments))
        }
        self.variables = variables
        func body(_ name: String, _ type: MessageType, absent: Body) throws(TypeSetError.Problem) -> Body {
            if name.isEmpty { return absent }
            if name == "*" { return .message }
            if let field = type.fieldPath([name]) { return .field(field) }
            throw problem("\(type.name) has no field \(name.shown(128))")
        }
        self.body = try body(rule.body, method.request, absent: .none)
        responseBody = try body(rule.responseBody, method.response, absent: .message)
    }

    /// Appends the path of a request.
    ///
    /// - Parameters:
    ///   - output: where it goes.
    ///   - text: gives the text of a variable; none if it has none.
    /// - Returns: whether each part of the path has a value that fits.
    public func appendPath(to output: ByteQueue, _ text: (FieldPath) -> String?) -> Bool {
        var index = 0
        while index < template.segments.count {
            if let variable = variables.first(where: { $0.segments.lowerBound == index }) {
                guard let text = text(variable.field), fits(text, variable) else { return false }
                output.append("/")
                output.append(segments: text, keepsSlashes: variable.isPath)
                index = variable.segments.upperBound
                continue
            }
            guard case .literal(let name) = template.segments[index] else { return false }
            output.append("/")
            output.append(name)
            index += 1
        }
        if let verb = template.customVerb {
            output.append(":")
            output.append(verb)
        }
        return true
    }

    /// Whether a text can stand for the segments of a variable.
    private func fits(_ text: String, _ variable: Variable) -> Bool {
        let bytes = Array(text.utf8)
        guard !bytes.span.leadsElsewhere else { return false }
        guard variable.isPath else {
            let segment = template.segments[variable.segments.lowerBound]
            guard case .literal(let name) = segment else { return !text.isEmpty }
            return bytes == name.span.unescaped()
        }
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
        // Two slashes at the beginning are an authority to some.
        guard variable.segments.lowerBound > 0 || parts[0] != [] else { return false }
        let expected = template.segments[variable.segments]
        guard expected.last == .rest ? parts.count >= expected.count - 1 : parts.count == expected.count else {
            return false
        }
        return zip(parts, expected).allSatisfy { part, segment in
            switch segment {
            case .literal(let name): part.span.unescaped() == name.span.unescaped()
            case .one: !part.isEmpty
            case .rest: true
            }
        }
    }
}

extension UInt8 {
    /// Whether the name of an HTTP method can have the byte (RFC 9110 §5.6.2).
    fileprivate var isTokenByte: Bool {
        0x21...0x7e ~= self && !"\"(),/:;<=>?@[\\]{}".utf8.contains(self)
    }
}

extension Span<UInt8> {
    /// Whether a part of a path is `.` or `..` for some reader: they undo escapes at different times, take a backslash for a slash,
    /// and pass over what follows a semicolon (RFC 3986 §5.2.4).
    fileprivate var leadsElsewhere: Bool {
        unescaped().split { "/\\".utf8.contains($0) }.contains { part in
            let name = part.prefix { $0 != UInt8(ascii: ";") }
            return !name.isEmpty && name.count <= 2 && name.allSatisfy { $0 == UInt8(ascii: ".") }
        }
    }
}

extension ByteQueue {
    /// Appends a text as segments of a path; what is a slash by its escape stays one.
    fileprivate func append(segments text: String, keepsSlashes: Bool) {
        let bytes = Array(text.utf8)
        let span = bytes.span
        var index = 0
        while index < span.count {
            let isEscapedSlash = keepsSlashes && span.escapedByte(at: index) == UInt8(ascii: "/")
            if span[index].isUnreserved || keepsSlashes && span[index] == UInt8(ascii: "/") || isEscapedSlash {
                append(byte: span[index])
            } else {
                append(escaped: span[index])
            }
            index += 1
        }
    }
}
