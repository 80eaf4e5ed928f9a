/// Chains that stand in their routes, which become chains with names.
extension Shorthand {
    /// Moves each list below `chain` of a route to `chains`, under a name that no other chain has.
    static func nameChains(of root: Node) -> Node {
        guard case .mapping(var entries) = root.content,
            let place = entries.firstIndex(where: { $0.key == "routes" }),
            case .sequence(var routes) = entries[place].value.content
        else { return root }
        var chains = entries.first { $0.key == "chains" }?.value.entries ?? []
        let given = chains.count
        for index in routes.indices { nameChain(of: &routes[index], index, in: &chains) }
        guard chains.count > given else { return root }
        let (old, mark) = (entries[place], entries[place].keyMark)
        entries[place] = Node.Entry(
            key: old.key,
            keyMark: mark,
            value: Node(.sequence(routes), at: old.value.mark)
        )
        entries.removeAll { $0.key == "chains" }
        entries.append(Node.Entry(key: "chains", keyMark: mark, value: Node(.mapping(chains), at: mark)))
        return Node(.mapping(entries), at: root.mark)
    }

    private static func nameChain(of route: inout Node, _ index: Int, in chains: inout [Node.Entry]) {
        guard case .mapping(var entries) = route.content,
            let place = entries.firstIndex(where: { $0.key == "chain" }),
            case .sequence = entries[place].value.content
        else { return }
        let chain = entries[place]
        var name = "route-\(index)"
        while chains.contains(where: { $0.key == name }) { name += "-" }
        chains.append(Node.Entry(key: name, keyMark: chain.value.mark, value: chain.value))
        entries[place] = Node.Entry(
            key: chain.key,
            keyMark: chain.keyMark,
            value: .plain(name, at: chain.value.mark)
        )
        route = Node(.mapping(entries), at: route.mark)
    }
}
