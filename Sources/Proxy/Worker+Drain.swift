extension Worker {
    /// Has each connection close after its next call and say so in the response; listeners go on accepting.
    ///
    /// On the listeners in `others` another process accepts, or will, so a GOAWAY sends HTTP/2 callers there now.
    package func announceClose(others: Set<String>) {
        for (name, listener) in acceptors { listener.acceptor.announceClose(movesOn: others.contains(name)) }
    }

    /// Accepts no more; connections stay as they are.
    package func stopAccepting() {
        for (acceptor, _) in acceptors.values { acceptor.stopAccepting() }
    }

    /// Accepts no more on the listeners that are not in `held`, and lets their connections come to their end.
    package func stopListening(except held: Set<String>) {
        for name in acceptors.keys.sorted() where !held.contains(name) { stopListening(name) }
    }

    /// The number of connections that a stop waits for before the last listeners close.
    ///
    /// Those of closed listeners, and those of held ones with a call that began before `announceClose`.
    package var leavingCount: Int {
        acceptors.values.reduce(0) { $0 + $1.acceptor.leavingCount } + draining.reduce(0) { $0 + $1.count }
    }

    /// The number of connections of closed listeners whose callers have no call, and have been told to close them.
    package var lingeringCount: Int { draining.reduce(0) { $0 + $1.lingeringCount } }

    /// Ends the calls now that `leavingCount` counts: callers without a response are told.
    package func abandonLeaving() {
        for (acceptor, _) in acceptors.values { acceptor.abandonLeaving() }
        for acceptor in draining { acceptor.abandon() }
    }
}
