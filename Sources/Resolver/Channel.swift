internal import CAres

/// A c-ares channel: the sockets and timers of the lookups that are under way.
@safe
final class Channel {
    private let raw: ares_channel
    /// c-ares keeps a pointer to it.
    private let watcher: SocketWatcher

    final class SocketWatcher {
        let changed: Resolver.SocketChanged
        init(_ changed: @escaping Resolver.SocketChanged) { self.changed = changed }
    }

    init(_ options: Resolver.Options, _ socketChanged: @escaping Resolver.SocketChanged) throws(ResolverError) {
        watcher = SocketWatcher(socketChanged)
        var settings = unsafe ares_options()
        unsafe settings.timeout = Int32(options.timeout)
        unsafe settings.tries = Int32(options.tries)
        unsafe settings.sock_state_cb_data = Unmanaged.passUnretained(watcher).toOpaque()
        unsafe settings.sock_state_cb = { context, socket, reads, writes in
            let watcher = unsafe Unmanaged<SocketWatcher>.fromOpaque(context!).takeUnretainedValue()
            watcher.changed(socket, reads != 0, writes != 0)
        }
        let given = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB
        var channel: ares_channel?
        let status = unsafe ares_init_options(&channel, &settings, given)
        guard status == ARES_SUCCESS, let channel = unsafe channel else { throw ResolverError(status: status) }
        unsafe raw = channel
        if let servers = options.servers {
            let status = unsafe ares_set_servers_ports_csv(channel, servers)
            guard status == ARES_SUCCESS else { throw ResolverError(status: status) }
        }
    }

    deinit {
        unsafe ares_destroy(raw)
    }

    /// How long until c-ares wants to look at its timers, in milliseconds.
    var nextTimeout: Int? {
        var time = timeval()
        guard unsafe ares_timeout(raw, nil, &time) != nil else { return nil }
        // c-ares rounds down, and who wakes too early finds nothing to do, again and again.
        return time.tv_sec * 1000 + time.tv_usec / 1000 + 1
    }

    func start(_ lookup: any PendingLookup, _ name: String) {
        unsafe lookup.start(name, on: raw)
    }

    func process(readable: Int32?, writable: Int32?) {
        unsafe ares_process_fd(raw, readable ?? ARES_SOCKET_BAD, writable ?? ARES_SOCKET_BAD)
    }
}
