/// The chains of a file put together: what a chain includes stands in its place.
struct ChainAssembly {
    /// The default chain.
    private(set) var interceptors: [ChainItem] = []
    /// The chains with names, in the order of the file.
    private(set) var chains: [ChainSettings] = []
    /// Whether everything that is included could be.
    private(set) var isWhole = true

    private let lists: [String: [ChainEntry]]
    private let names: [String]
    private let diagnostics: Diagnostics
    /// The chains that are put together already.
    private var finished: [String: [ChainItem]] = [:]
    /// The names of those that are being put together, each included by the one before it.
    private var path: [String] = []

    /// More than any chain can use: chains that include others twice double at each step.
    private static let maxItems = 256
    /// How deep inclusions go: each level is one of the stack as well.
    private static let maxDepth = 64

    /// Reads the chains of the file and reports what is wrong.
    init(_ section: Section) {
        diagnostics = section.diagnostics
        let entries = Self.entries(section)
        names = entries.map(\.key)
        let read = entries.map { ($0.key, ChainEntry.list($0.value, into: section.diagnostics)) }
        lists = Dictionary(read) { first, _ in first }
        let main = section.node("interceptors").map { ChainEntry.list($0, into: section.diagnostics) } ?? []
        interceptors = items(of: main)
        chains = entries.map { ChainSettings(name: $0.key, items: items(named: $0.key), mark: $0.keyMark) }
    }

    private static func entries(_ section: Section) -> [Node.Entry] {
        guard let node = section.node("chains") else { return [] }
        guard let entries = node.entries else {
            section.report("\"chains\" cannot be \(node.summary); write a mapping of names to lists", at: "chains")
            return []
        }
        for entry in entries { Name.check(entry.key, at: entry.keyMark, into: section.diagnostics) }
        return entries
    }

    private mutating func items(named name: String) -> [ChainItem] {
        if let items = finished[name] { return items }
        path.append(name)
        let items = items(of: lists[name] ?? [])
        path.removeLast()
        finished[name] = items
        return items
    }

    private mutating func items(of list: [ChainEntry]) -> [ChainItem] {
        var items: [ChainItem] = []
        var taken: [String: Mark] = [:]
        for entry in list {
            let added = expanded(entry, after: items.count)
            let given = added.compactMap(\.givenName)
            // A name that an included chain has twice was reported there.
            for name in given {
                guard let first = taken[name.text] else { continue }
                report(name, writtenAt: first, by: entry)
            }
            for name in given where taken[name.text] == nil { taken[name.text] = name.mark }
            items += added
        }
        return Self.numbered(items)
    }

    /// The items that an entry stands for in a list that has `count` before it.
    private mutating func expanded(_ entry: ChainEntry, after count: Int) -> [ChainItem] {
        switch entry {
        case .item(let item): return [item]
        case .inclusion(let name):
            let items = included(name)
            if count + items.count <= Self.maxItems { return items }
            let problem = "\(Diagnostic.quote(name.text)) makes this chain longer than \(Self.maxItems) interceptors"
            fail("\(problem); include fewer interceptors", at: name.mark)
            return []
        }
    }

    private mutating func included(_ name: MarkedString) -> [ChainItem] {
        let quoted = Diagnostic.quote(name.text)
        guard lists[name.text] != nil else {
            fail("no chain is named \(quoted); \(Suggestion.text(for: name.text, among: names))", at: name.mark)
            return []
        }
        if let start = path.firstIndex(of: name.text) {
            let ring = (path[start...] + [name.text]).joined(separator: " → ")
            fail("the chain \(quoted) would include itself (\(ring)); remove one of the inclusions", at: name.mark)
            return []
        }
        guard path.count < Self.maxDepth || finished[name.text] != nil else {
            fail("\(quoted) is included more than \(Self.maxDepth) levels deep; include it directly", at: name.mark)
            return []
        }
        return items(named: name.text)
    }

    private mutating func fail(_ message: String, at mark: Mark) {
        isWhole = false
        diagnostics.report(message, at: mark)
    }

    private func report(_ name: MarkedString, writtenAt first: Mark, by entry: ChainEntry) {
        let quoted = Diagnostic.quote(name.text)
        let advice = "already used in this chain on line \(first.line); give each interceptor its own name"
        switch entry {
        case .item: diagnostics.report("the name \(quoted) is \(advice)", at: name.mark)
        case .inclusion(let chain):
            let problem = "\(Diagnostic.quote(chain.text)) includes an interceptor with the name \(quoted), which is"
            diagnostics.report("\(problem) \(advice)", at: chain.mark)
        }
    }

    /// Names the items that the file does not name by their kinds, numbered from the second on.
    private static func numbered(_ items: [ChainItem]) -> [ChainItem] {
        var names = Set(items.compactMap(\.givenName?.text))
        var numbers: [String: Int] = [:]
        return items.map { item in
            guard item.givenName == nil else { return item }
            var number = numbers[item.kind, default: 0]
            var name: String
            repeat {
                number += 1
                name = number == 1 ? item.kind : "\(item.kind)-\(number)"
            } while !names.insert(name).inserted
            numbers[item.kind] = number
            return item.named(name)
        }
    }
}
