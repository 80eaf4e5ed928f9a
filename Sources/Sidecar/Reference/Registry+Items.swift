internal import Configuration
internal import Proxy

extension Registry {
    /// The table of a chain's items: what all have in common, and exactly one of the kinds.
    var itemOptions: [Option] {
        ChainItem.commonOptions + kinds.map { Option($0.name, .section($0.options), oneOf: "kind", $0.summary) }
    }
}
