package import Time

/// How many calls of an upstream may be retried: within any ten seconds a share of its calls, and some besides.
///
/// Pure: time comes from outside, and may stand or go back a little.
package struct RetryBudget: Sendable {
    /// Over how many seconds calls and tries are counted.
    package static let window = 10

    private struct Second {
        var calls = 0
        var retries = 0
    }

    private let perThousand: Int
    /// In thousandths, for the whole window.
    private let minimum: Int
    /// One more than the window has: tries are counted for at least that long, and calls for at most.
    private var seconds = [Second](repeating: Second(), count: window + 1)
    private var current = 0
    private var calls = 0
    private var retries = 0

    /// Makes a budget of which nothing is spent.
    ///
    /// - Parameters:
    ///   - perThousand: how many of a thousand calls may be retried.
    ///   - minimumPerSecond: how many more may be, in each second, however few calls there are.
    package init(perThousand: Int, minimumPerSecond: Int) {
        self.perThousand = perThousand
        minimum = minimumPerSecond * Self.window * 1000
    }

    /// A call goes to the upstream for the first time.
    package mutating func deposit(at now: Instant) {
        advance(to: now)
        seconds[index(of: current)].calls += 1
        calls += 1
    }

    /// Whether a call may be retried, which is counted then.
    package mutating func withdraw(at now: Instant) -> Bool {
        advance(to: now)
        guard (retries + 1) * 1000 <= calls * perThousand + minimum else { return false }
        seconds[index(of: current)].retries += 1
        retries += 1
        return true
    }

    private func index(of second: Int) -> Int {
        second % seconds.count
    }

    /// Forgets what is too old.
    private mutating func advance(to now: Instant) {
        let second = (now - .start).seconds
        guard second > current else { return }
        guard second - current < seconds.count else {
            for index in seconds.indices { seconds[index] = Second() }
            (calls, retries, current) = (0, 0, second)
            return
        }
        while current < second {
            current += 1
            // What is one second younger than what is forgotten counts no more for calls.
            let leaving = index(of: current + 1)
            calls -= seconds[leaving].calls
            seconds[leaving].calls = 0
            let gone = index(of: current)
            retries -= seconds[gone].retries
            seconds[gone] = Second()
        }
    }
}
