/// The bound on the addresses that DNS adds to an upstream (`limits.addresses`).
struct AddressBound {
    /// The maximum number of addresses of a name, and of targets of its SRV records.
    let limit: Int

    /// Returns at most `limit` items, those of the first ranks.
    ///
    /// Of items with equal ranks, all lists of this process have the same ones, in whatever order DNS sends them. Other
    /// processes choose others, so that the calls of many are spread over all items.
    ///
    /// - Parameters:
    ///   - items: The items as DNS has sent them.
    ///   - least: The number of items that are always allowed.
    ///   - rank: The rank of an item, and what identifies the item.
    /// - Returns: The items that are used.
    func first<Item>(of items: [Item], least: Int = 0, by rank: (Item) -> (Int, AnyHashable)) -> [Item] {
        let limit = max(limit, least)
        guard items.count > limit else { return items }
        // The seed of hashes is random for each process.
        let ranked = items.map { item in
            let (rank, identity) = rank(item)
            return (item: item, rank: rank, hash: identity.hashValue)
        }
        return ranked.sorted { ($0.rank, $0.hash) < ($1.rank, $1.hash) }.prefix(limit).map(\.item)
    }
}
