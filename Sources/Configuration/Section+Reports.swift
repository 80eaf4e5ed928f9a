/// Errors that several settings share, so that one kind of error has one form.
extension Section {
    /// Reports a key that has no effect, because none of the keys that give it one is there.
    public func reportUnused(_ key: String, without others: String...) {
        let names = others.map(Diagnostic.quote).joined(separator: " or ")
        let advice = others.count > 1 ? "one of them" : names
        report("\(Diagnostic.quote(key)) has no effect without \(names); add \(advice), or remove it", at: key)
    }

    /// Reports two keys that cannot be set together, at the second one.
    public func reportConflict(_ first: String, _ second: String) {
        let names = "\(Diagnostic.quote(first)) and \(Diagnostic.quote(second))"
        report("\(names) cannot be set together; write only one of them", at: second)
    }

    /// Reports keys that only `true` has a sense for, where they are `false`.
    public func reportFalse(_ keys: String...) {
        for key in keys where has(key) && !bool(key) {
            report("\(Diagnostic.quote(key)) cannot be false; write true, or remove it", at: key)
        }
    }

    /// Reports a list without items, which would look as if it meant something; `advice` says what to write.
    public func reportIfEmpty(_ key: String, write advice: String) {
        guard case .sequence([])? = node(key)?.content else { return }
        report("\(Diagnostic.quote(key)) is an empty list; write \(advice), or remove it", at: key)
    }
}
