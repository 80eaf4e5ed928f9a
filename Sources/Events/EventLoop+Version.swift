internal import CLibevent

extension EventLoop {
    /// The version of libevent.
    public static var libraryVersion: String { unsafe String(cString: event_get_version()) }
}
