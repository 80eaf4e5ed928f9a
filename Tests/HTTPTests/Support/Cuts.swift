/// What a peer has seen and been sent, to be compared.
struct Outcome: Equatable {
    var saw: [String]
    var sent: String
}

/// Every way to cut a message: not at all, in two at every place, and into single bytes.
func everyCut(of text: String) -> [[[UInt8]]] {
    everyCut(of: text.bytes)
}

func everyCut(of bytes: [UInt8]) -> [[[UInt8]]] {
    let halves = (1..<max(1, bytes.count)).map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
    return [[bytes]] + halves + [bytes.map { [$0] }]
}

/// Sends the message in every cut to a new caller each; returns the outcome if it was always the same.
func outcome(of text: String, ended: Bool = false, _ make: () -> ScriptedCaller) -> Outcome? {
    same(
        everyCut(of: text).map { pieces in
            let caller = make()
            for piece in pieces { caller.sends(piece) }
            if ended { caller.hangsUp() }
            return Outcome(saw: caller.saw, sent: caller.receive())
        }
    )
}

/// Has a new upstream each send the message in every cut; returns what was seen if it was always the same.
func seen(of text: String, ended: Bool = false, _ make: () -> ScriptedUpstream) -> [String]? {
    same(
        everyCut(of: text).map { pieces in
            let upstream = make()
            for piece in pieces { upstream.responses(piece) }
            if ended { upstream.hangsUp() }
            return upstream.saw
        }
    )
}

private func same<Value: Equatable>(_ values: [Value]) -> Value? {
    values.allSatisfy { $0 == values[0] } ? values[0] : nil
}
