internal import Events
public import Time

/// Requests of our own that calls wait for: those who ask for the same while it is under way share it.
///
/// Belongs to one worker's thread.
public final class SharedFetches {
    /// One who waits for a response.
    public final class Ticket {
        fileprivate var done: Fetch.Completion?
        fileprivate weak var flight: Flight?

        fileprivate init(_ done: @escaping Fetch.Completion) { self.done = done }

        /// What is held for the request: its share of that, where others wait for the same one.
        public var heldBytes: Int {
            guard let flight else { return 0 }
            return (flight.fetch?.heldBytes ?? 0) / max(1, flight.tickets.count)
        }

        /// Waits no more; the request is given up when nobody does.
        public func cancel() {
            done = nil
            flight?.leave(self)
        }
    }

    /// A request that is under way.
    fileprivate final class Flight {
        let request: FetchRequest
        let server: FetchServer
        /// Whether others may wait for the same response.
        let isShared: Bool
        var fetch: Fetch?
        var tickets: [Ticket] = []
        private let over: (Flight) -> Void

        init(_ request: FetchRequest, _ server: FetchServer, isShared: Bool, over: @escaping (Flight) -> Void) {
            (self.request, self.server, self.isShared, self.over) = (request, server, isShared, over)
        }

        func leave(_ ticket: Ticket) {
            tickets.removeAll { $0 === ticket }
            guard tickets.isEmpty else { return }
            fetch?.cancel()
            over(self)
        }

        func end(_ result: Result<FetchedResponse, FetchError>) {
            over(self)
            let waiting = tickets
            tickets = []
            for ticket in waiting {
                let done = ticket.done
                ticket.done = nil
                done?(result)
            }
        }
    }

    private let fetcher: Fetcher
    private var flights: [Flight] = []

    init(_ fetcher: Fetcher) {
        self.fetcher = fetcher
    }

    /// Sends a request, or waits for the response to one like it that is under way.
    ///
    /// - Parameters:
    ///   - request: what is asked.
    ///   - server: who is asked.
    ///   - limit: the largest body of a response, in bytes.
    ///   - timeout: how long all of it may take.
    ///   - isShared: whether others may wait for the same response; if not, the request is sent for this one alone.
    ///   - done: gets the whole response, or why there is none, unless the ticket is cancelled; maybe before this returns.
    /// - Returns: what waits for the response.
    public func fetch(
        _ request: FetchRequest,
        from server: FetchServer,
        limit: Int,
        timeout: Duration?,
        isShared: Bool = true,
        done: @escaping (Result<FetchedResponse, FetchError>) -> Void
    ) -> Ticket {
        let ticket = Ticket(done)
        if isShared,
            let flight = flights.first(where: { $0.isShared && $0.request == request && $0.server == server })
        {
            join(ticket, flight)
            return ticket
        }
        let flight = Flight(request, server, isShared: isShared) { [unowned self] flight in
            flights.removeAll { $0 === flight }
        }
        join(ticket, flight)
        flights.append(flight)
        flight.fetch = fetcher.fetch(
            request,
            from: server,
            limit: limit,
            timeout: timeout,
            isForCall: !isShared
        ) { [weak flight] result in flight?.end(result) }
        return ticket
    }

    private func join(_ ticket: Ticket, _ flight: Flight) {
        flight.tickets.append(ticket)
        ticket.flight = flight
    }

    /// Closes the connections that are kept for later.
    func drain() {
        fetcher.drain()
    }
}
