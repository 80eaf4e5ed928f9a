internal import Bytes

/// The ways in which an input comes: whole, in single bytes, and in pieces of sizes that follow from it.
enum Cuts: CaseIterable {
    case none, everywhere, some

    /// Calls `receive` with one piece after the other.
    func apply(to input: Span<UInt8>, _ receive: (Span<UInt8>) -> Void) {
        var random = SplitMix(seed: input.fnv1a)
        var start = 0
        while start < input.count {
            let left = input.count - start
            let size =
                switch self {
                case .none: left
                case .everywhere: 1
                case .some: min(left, 1 + Int(random.next() % (random.next() % 4 == 0 ? 64 : 8)))
                }
            receive(input.extracting(start..<start + size))
            start += size
        }
    }

    /// Gives a session the input; what it leaves is given again with what follows, as its owner does.
    func feed(_ input: Span<UInt8>, _ receive: (Span<UInt8>) -> Int) {
        var (start, end) = (0, 0)
        apply(to: input) { piece in
            end += piece.count
            start += receive(input.extracting(start..<end))
        }
    }

    /// The same value for every cut of the input, or else the run fails.
    static func same<Value: Equatable>(_ property: String, _ read: (Cuts) -> Value) -> Value {
        let whole = read(.none)
        demandSame(whole, read(.everywhere), "\(property), whole and byte by byte")
        demandSame(whole, read(.some), "\(property), whole and in pieces")
        return whole
    }
}

/// Small random numbers that are the same in each run.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
