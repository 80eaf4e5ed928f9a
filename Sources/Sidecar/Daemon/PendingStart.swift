internal import Events

/// A start that is tried again in a while, since a port is taken for example.
struct PendingStart {
    /// The configuration that cannot be served yet.
    var loaded: ConfigurationFile.Loaded?
    var retry = StartRetry()
    var timer: Timer?
}
