import Proxy
import Telemetry
import Testing

@testable import Sidecar

/// What the main thread gets of what workers publish.
@Suite struct SubscriptionTests {
    @Test func `what waits of one worker is delivered in order`() {
        let handovers = [LineHandover {}, LineHandover {}]
        var items: [LineBuffer.Item] = []
        let subscription = Subscription(to: .recentCalls, handovers) { items.append($0) }
        handovers[0].append([1])
        handovers[0].append([2])
        handovers[1].append([3])
        subscription.deliver(from: 1)
        subscription.deliver(from: 0)
        subscription.deliver(from: 0)
        #expect(items == [.line([3]), .line([1]), .line([2])])
    }

    @Test func `nothing is delivered after the end, even of lines that were on their way`() {
        let handover = LineHandover {}
        var items: [LineBuffer.Item] = []
        var subscription: Subscription?
        subscription = Subscription(to: .recentCalls, [handover]) { item in
            items.append(item)
            subscription?.cancel()
        }
        handover.append([1])
        handover.append([2])
        subscription?.deliver(from: 0)
        handover.append([3])
        subscription?.deliver(from: 0)
        #expect(items == [.line([1])])
    }
}
