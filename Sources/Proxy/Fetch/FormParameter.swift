internal import Bytes
internal import Configuration

/// A parameter of a query or of a form.
struct FormParameter {
    private let name: [UInt8]
    let value: Template

    /// Compiles a parameter; what is wrong with its value is reported.
    init(_ entry: NamedString, parameters: [String], into diagnostics: Diagnostics) {
        name = Array(entry.name.utf8)
        value = Template(
            entry.text,
            at: entry.mark,
            allowsControls: true,
            parameters: parameters,
            into: diagnostics
        )
    }

    /// Appends `name=value`; every byte that means something in a query or form is escaped, a space as `%20`.
    fileprivate func append(_ value: [UInt8], to queue: ByteQueue) {
        queue.append(escaping: name.span)
        queue.append(byte: UInt8(ascii: "="))
        queue.append(escaping: value.span)
    }
}

extension [FormParameter] {
    /// The parameters with `&` between them, without those whose value is absent.
    func rendered(for call: Call?, _ arguments: CallArguments) -> [UInt8] {
        let queue = ByteQueue()
        for parameter in self {
            guard let value = parameter.value.value(for: call, arguments) else { continue }
            if !queue.isEmpty { queue.append(byte: UInt8(ascii: "&")) }
            parameter.append(value, to: queue)
        }
        return queue.readable.array
    }
}
