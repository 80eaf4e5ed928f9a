import Testing

@testable import Proxy

/// Connections have a quarter of the limit, and calls have the rest.
@Suite struct MemoryBudgetTests {
    struct Row: CustomTestStringConvertible {
        let (calls, connections, room): (Int, Int, Int)
        let (isExhausted, admits): (Bool, Bool)

        var testDescription: String { "\(calls) for calls, \(connections) for connections" }
    }

    private static func row(_ calls: Int, _ connections: Int, room: Int, exhausted: Bool, admits: Bool) -> Row {
        Row(calls: calls, connections: connections, room: room, isExhausted: exhausted, admits: admits)
    }

    static let rows = [
        row(0, 0, room: 750, exhausted: false, admits: true),
        // Many connections leave calls their room, and much for calls leaves connections theirs.
        row(0, 250, room: 750, exhausted: false, admits: false),
        row(750, 250, room: 0, exhausted: false, admits: false),
        row(751, 0, room: 0, exhausted: true, admits: true),
        row(5000, 240, room: 0, exhausted: true, admits: true),
        row(5000, 241, room: 0, exhausted: true, admits: false),
        // If connections with calls hold more than their part, the total stays within the limit.
        row(0, 400, room: 600, exhausted: false, admits: false),
        row(600, 400, room: 0, exhausted: false, admits: false),
        row(601, 400, room: 0, exhausted: true, admits: false),
        row(0, 1001, room: 0, exhausted: true, admits: false),
    ]

    @Test(arguments: rows)
    func `calls and connections have room of their own in a limit of 1000`(_ row: Row) {
        let budget = MemoryBudget(limit: 1000)
        budget.add(row.calls)
        budget.addConnections(row.connections)
        #expect(budget.room == row.room)
        #expect(budget.isExhausted == row.isExhausted)
        #expect(budget.hasRoom(forConnection: 10) == row.admits)
        #expect(budget.connectionExcess == row.connections - 250)
        #expect(budget.isExhausted || budget.total <= budget.limit)
    }

    @Test(arguments: [(500, true), (501, false)])
    func `a quarter is left to requests that come whole`(_ bytes: Int, _ hasRoom: Bool) {
        let budget = MemoryBudget(limit: 1000 * 4096)
        budget.addConnections(250 * 4096)
        var share = MemoryShare()
        #expect(share.grow(to: bytes * 4096, of: budget) == hasRoom)
        share.release(to: budget)
        #expect(budget.used == 0)
    }

    @Test func `a budget without a limit has room whatever is held`() {
        let budget = MemoryBudget()
        budget.add(1 << 40)
        budget.addConnections(1 << 40)
        #expect(!budget.isExhausted && !budget.isFullForHeads && budget.excess < 0)
        #expect(budget.room > 1 << 60 && budget.hasRoom(forConnection: 1 << 20))
    }
}
