internal import Events

/// Has a wire give its owner again what it left.
final class Redelivery: EndOfTurn {
    private let wire: Wire

    init(of wire: Wire) {
        self.wire = wire
    }

    func endOfTurn() {
        wire.redeliver()
    }
}
