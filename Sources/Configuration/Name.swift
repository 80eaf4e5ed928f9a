/// The rule for the names that a file gives to upstreams, chains and interceptors.
enum Name {
    /// Reports `name` unless it is short and made of letters, digits, `-`, `_` and `.`: it stands in metrics and logs.
    static func check(_ name: String, at mark: Mark, into diagnostics: Diagnostics) {
        let isGood = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
            default: false
            }
        }
        guard !isGood || !(1...64 ~= name.utf8.count) else { return }
        let rule = "use at most 64 letters, digits, \"-\", \"_\" and \".\""
        diagnostics.report("\(Diagnostic.quote(name)) is not a valid name; \(rule)", at: mark)
    }
}
