internal import Configuration
internal import Proxy

extension Registry {
    /// The table of a chain's items: what all have in common, and exactly one of the kinds.
    var itemOptions: [Option] {
        ChainItem.commonOptions
            + kinds.map { kind in
                let options = Option.Kind.section(kind.options, shorthand: kind.shorthand)
                return Option(kind.name, options, oneOf: "kind", kind.summary)
            }
    }
}
