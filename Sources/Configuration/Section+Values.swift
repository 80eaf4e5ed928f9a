public import Time

extension Section {
    /// The text of a `string` or `choice` option; empty where there is none.
    public func string(_ key: String) -> String {
        string(ifGiven: key) ?? ""
    }

    /// The text of a `string` or `choice` option, if the file or the table has a good one.
    public func string(ifGiven key: String) -> String? {
        switch value(key) {
        case .string(let text): text
        case nil: nil
        default: mismatch(key)
        }
    }

    /// The text of a `string` option with its place, if the file has a good one.
    public func marked(_ key: String) -> MarkedString? {
        string(ifGiven: key).map { MarkedString($0, at: mark(of: key)) }
    }

    /// The value of a `bool` option; false where there is none.
    public func bool(_ key: String) -> Bool {
        switch value(key) {
        case .bool(let value): value
        case nil: false
        default: mismatch(key)
        }
    }

    /// The value of a `duration` or `timeout` option; none for `none`, and where nothing is said.
    public func duration(_ key: String) -> Duration? {
        switch value(key) {
        case .duration(let value): value
        case nil: nil
        default: mismatch(key)
        }
    }

    /// The bytes of a `size` option; 0 where there is none.
    public func size(_ key: String) -> Int {
        integer(key)
    }

    /// The bytes of a `sizeLimit` option; none for `none`, and where nothing is said.
    public func sizeLimit(_ key: String) -> Int? {
        integer(ifGiven: key)
    }

    /// The value of an `integer` or `size` option; 0 where there is none.
    public func integer(_ key: String) -> Int {
        integer(ifGiven: key) ?? 0
    }

    /// The value of an `integer`, `size` or `integerOrAuto` option; none for `auto`, and where nothing is said.
    public func integer(ifGiven key: String) -> Int? {
        switch value(key) {
        case .integer(let value): value
        case nil: nil
        default: mismatch(key)
        }
    }

    /// The texts of a `strings` or `choices` option.
    public func strings(_ key: String) -> [String] {
        markedStrings(key).map(\.text)
    }

    /// The texts of a `strings` or `choices` option with their places.
    public func markedStrings(_ key: String) -> [MarkedString] {
        switch value(key) {
        case .strings(let values): values
        case nil: []
        default: mismatch(key)
        }
    }

    /// The values of an `integers` option.
    public func integers(_ key: String) -> [Int] {
        switch value(key) {
        case .integers(let values): values
        case nil: []
        default: mismatch(key)
        }
    }

    /// The names and texts of a `map` option in the order of the file.
    public func map(_ key: String) -> [NamedString] {
        switch value(key) {
        case .map(let values): values
        case nil: []
        default: mismatch(key)
        }
    }

    /// The section below a `section` option; all defaults if it is absent, which `has` tells.
    public func section(_ key: String) -> Section {
        if case .section(let section) = value(key) { return section }
        guard case .section(let options, _)? = options.first(where: { $0.key == key })?.kind else { mismatch(key) }
        return Section(absent: options, at: mark, into: diagnostics)
    }

    /// The items of a `sections` option.
    public func sections(_ key: String) -> [Section] {
        switch value(key) {
        case .sections(let sections): sections
        case nil: []
        default: mismatch(key)
        }
    }

    /// The names and sections of a `named` option in the order of the file.
    public func named(_ key: String) -> [NamedSection] {
        switch value(key) {
        case .named(let sections): sections
        case nil: []
        default: mismatch(key)
        }
    }

    /// The value of any option as it stands in the file, unread; none if it is absent.
    public func node(_ key: String) -> Node? {
        precondition(options.contains { $0.key == key }, "the table has no option \(key)")
        return given[key]?.value
    }

    private func mismatch(_ key: String) -> Never {
        preconditionFailure("the table states another type for \(key)")
    }
}
