internal import Bytes

extension Template {
    /// Whether a part of the value comes from a call.
    public var requiresCall: Bool {
        pieces.contains { piece in
            switch piece {
            case .text, .parameter: false
            default: true
            }
        }
    }

    /// The parameters in it, by their numbers.
    var parameters: [Int] {
        pieces.compactMap { if case .parameter(let index) = $0 { index } else { nil } }
    }

    /// The parameter that is all of it; none if there is more.
    var onlyParameter: Int? { pieces.count == 1 ? parameters.first : nil }

    /// The value for a call; for none, what is the same for all.
    public func value(for call: Call?) -> [UInt8] {
        guard let call else { return Array(texts.joined()) }
        let queue = ByteQueue()
        render(for: call, to: queue)
        return queue.readable.array
    }

    /// The value for a call with the values of parameters; none if one of them is absent.
    func value(for call: Call?, _ arguments: CallArguments) -> [UInt8]? {
        guard arguments.has(parameters) else { return nil }
        let queue = ByteQueue()
        for piece in pieces {
            switch piece {
            case .text(let bytes): queue.append(bytes)
            case .parameter(let index): queue.append(arguments[index]?.text ?? [])
            default: if let call { append(piece, of: call, to: queue) }
            }
        }
        return queue.readable.array
    }
}
