internal import Events

/// A start that waits to be retried, since a port is taken for example.
struct PendingStart {
    /// The configuration that cannot be served yet.
    var loaded: ConfigurationFile.Loaded?
    var retry = StartRetry()
    var timer: Timer?
}
