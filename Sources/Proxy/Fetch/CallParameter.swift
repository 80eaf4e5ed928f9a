internal import Bytes
internal import Configuration

/// A parameter of a query or of a form.
struct CallParameter {
    private let name: [UInt8]
    let value: Template

    /// Compiles a parameter; what is wrong with its value is reported.
    init(_ entry: NamedString, into diagnostics: Diagnostics) {
        name = Array(entry.name.utf8)
        value = Template(entry.text, at: entry.mark, allowsControls: true, into: diagnostics)
    }

    /// Appends `name=value`; every byte that means something in a query or form is escaped, a space as `%20`.
    func append(for call: Call?, to queue: ByteQueue) {
        queue.append(escaping: name.span)
        queue.append(byte: UInt8(ascii: "="))
        queue.append(escaping: value.value(for: call).span)
    }
}

extension [CallParameter] {
    /// The parameters with `&` between them.
    func rendered(for call: Call?) -> [UInt8] {
        let queue = ByteQueue()
        for (index, parameter) in enumerated() {
            if index > 0 { queue.append(byte: UInt8(ascii: "&")) }
            parameter.append(for: call, to: queue)
        }
        return queue.readable.array
    }
}
