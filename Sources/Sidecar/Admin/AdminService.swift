internal import Configuration

/// The admin pages of a daemon: their sockets and their streams.
struct AdminService {
    /// What was asked for at the start; a socket that nobody has asked for may not be among those that are open.
    var settings: [AdminSettings] = []
    var servers: [AdminServer] = []
    let streams = AdminStreams()
}
