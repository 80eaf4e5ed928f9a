/// What one can subscribe to.
package enum Topic: Sendable {
    /// The calls of the admin page of recent calls: those that are kept, oldest first, and then each that is kept anew.
    case recentCalls
    /// The calls that begin from now on, as a tap sees them.
    case tap(Tap)
}

extension Worker {
    /// Hands the lines of a topic over from now on.
    package func subscribe(_ handover: LineHandover, to topic: Topic) {
        switch topic {
        case .recentCalls:
            recent.subscribe(handover)
            updateTaps { $0.addFollower() }
        case .tap(let tap): open(tap, to: handover)
        }
    }

    /// Hands no more lines of a topic over.
    package func unsubscribe(_ handover: LineHandover, from topic: Topic) {
        switch topic {
        case .recentCalls:
            recent.publisher.remove(handover)
            updateTaps { $0.removeFollower() }
        case .tap: close(handover)
        }
    }
}
