/// What one can subscribe to.
package enum Topic: Sendable {
    /// The calls of the admin page of recent calls: those that are kept, oldest first, and then each that is kept anew.
    case recentCalls
}

extension Worker {
    /// Hands the lines of a topic over from now on.
    package func subscribe(_ handover: LineHandover, to topic: Topic) {
        switch topic {
        case .recentCalls: recent.subscribe(handover)
        }
    }

    /// Hands no more lines of a topic over.
    package func unsubscribe(_ handover: LineHandover, from topic: Topic) {
        switch topic {
        case .recentCalls: recent.publisher.remove(handover)
        }
    }
}
