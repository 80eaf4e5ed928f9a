internal import Bytes
internal import Configuration
internal import Credentials
internal import Documents
internal import HTTP
internal import Proxy

/// A part of a response, or of a program's output, that gets a name.
struct RetryCapture: Sendable {
    private enum Source: Sendable {
        case json(JSONPointer)
        case header(String)
        case status, text
    }

    /// The name.
    let name: String
    private let source: Source

    /// Reads an entry of `capture`; one that is wrong is reported.
    init?(_ entry: NamedString, ofTask isTask: Bool, into diagnostics: Diagnostics) {
        name = entry.name
        let text = entry.text
        if text.hasPrefix("json:"), let pointer = JSONPointer(String(text.dropFirst(5))) {
            source = .json(pointer)
        } else if isTask, text == "text" {
            source = .text
        } else if !isTask, text == "status" {
            source = .status
        } else if !isTask, text.hasPrefix("header:"), FieldName.isValid(String(text.dropFirst(7))) {
            source = .header(text.dropFirst(7).lowercased())
        } else {
            let advice = isTask ? "text or json:/token" : "json:/token, header:x-token or status"
            diagnostics.report("\(Diagnostic.quote(text)) cannot be captured; write \(advice)", at: entry.mark)
            return nil
        }
    }

    /// The value in a response, fit for a header; none if there is none such.
    func value(in response: FetchedResponse) -> [UInt8]? {
        switch source {
        case .json(let pointer): Self.json(pointer, response.body)
        case .header(let name): Self.fit(response.fields.first { $0.name == name }?.value)
        case .status: Array("\(response.status)".utf8)
        case .text: nil
        }
    }

    /// The value in the output of a program; likewise.
    func value(in output: [UInt8]) -> [UInt8]? {
        switch source {
        case .json(let pointer): Self.json(pointer, output)
        case .text: Self.fit(Self.withoutLineEnd(output))
        case .header, .status: nil
        }
    }

    private static func withoutLineEnd(_ output: [UInt8]) -> [UInt8] {
        let end = output.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        return end.map { Array(output[...$0]) } ?? []
    }

    private static func json(_ pointer: JSONPointer, _ bytes: [UInt8]) -> [UInt8]? {
        fit((try? JSON.parse(bytes))?.value(at: pointer)?.text)
    }

    /// What cannot stand in a header is none: it could end it, or be larger than any head may be.
    private static func fit(_ value: [UInt8]?) -> [UInt8]? {
        guard let value, 1...TokenText.limit ~= value.count,
            !value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f })
        else {
            return nil
        }
        return value
    }
}
