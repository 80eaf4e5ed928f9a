/// Fails the run if a property does not hold: libFuzzer keeps the input.
func demand(_ holds: Bool, _ property: @autoclosure () -> String) {
    if !holds { fail(property()) }
}

/// Fails the run if two readings of one input differ.
func demandSame<Value: Equatable>(_ one: Value, _ other: Value, _ property: @autoclosure () -> String) {
    if one != other { fail("\(property())\n  one:   \(one)\n  other: \(other)") }
}

func fail(_ property: String) -> Never {
    fatalError("does not hold: \(property)")
}
