internal import Bytes
public import Configuration
internal import Documents
internal import Proxy
internal import RPC

/// Options whose value is a message.
extension Section {
    /// The JSON of a `node` option, which is a YAML value or a string of JSON; what is not JSON is reported.
    func json(_ key: String) -> [UInt8]? {
        guard let node = node(key) else { return nil }
        guard case .scalar(let text, _) = node.content else { return node.json }
        do throws(JSONError) {
            _ = try JSON.parse(Array(text.utf8).span)
        } catch {
            let position = "line \(error.line), column \(error.column)"
            report("\"\(key)\" is not valid JSON: \(error.text), \(position)", at: key)
        }
        return Array(text.utf8)
    }

    /// The bytes of a `string` option in base64; what is not base64 is reported.
    public func base64(_ key: String) -> [UInt8]? {
        guard let text = string(ifGiven: key) else { return nil }
        let bytes = Base64.decode(Array(text.utf8).span)
        if bytes == nil { report("\"\(key)\" is not valid base64; write for example AQID", at: key) }
        return bytes ?? []
    }

    /// The bytes of a `string` option in hexadecimal, with spaces or without; what is not is reported.
    public func hexadecimal(_ key: String) -> [UInt8]? {
        guard let text = string(ifGiven: key) else { return nil }
        let digits = text.filter { $0 != " " }.map(\.hexDigitValue)
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else {
            report("\"\(key)\" is not valid hexadecimal; write two digits for each byte, such as 0a 02", at: key)
            return []
        }
        let values = digits.compactMap { $0 }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
