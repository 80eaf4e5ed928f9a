internal import Events
internal import RPC
internal import Telemetry
internal import Time

/// What is remembered of a call for metrics and logs.
struct CallRecord {
    /// Who decided what the caller got.
    enum Decider: Equatable {
        case upstream, martlet, caller
        case interceptor(String)
    }

    /// The monotonic times of a call's stages; zero for one that was not reached.
    struct Stages {
        var arrived = Instant.start
        var forwarded = Instant.start
        var connected = Instant.start
        var responded = Instant.start
        var ended = Instant.start
    }

    var stages = Stages()
    var requestBytes = 0
    var responseBytes = 0
    /// How long the body of the response is, if its head has said so.
    var responseLength: Int?
    /// The HTTP status that the caller got; 0 if it got none.
    var status = 0
    var code = RPCCode.unknown
    /// What the caller was told, or what the upstream said, about a failure.
    var message: [UInt8] = []
    var attempts = 0
    /// Those of the attempts that hedging has begun.
    var hedges = 0
    var decider = Decider.upstream
    /// What became of it at the last cache that it came to.
    var cache: CacheLabel?
    /// The attempts that have ended, unless there was only one, with a response.
    var ended: [AttemptTimes] = []
    /// Whether the one under way is not the only one.
    var keepsAttempts: Bool { attempts > 1 || isRetried }
    /// Whether the response that had come was dropped for a retry.
    var isRetried = false

    /// The whole time of the call.
    var duration: Duration { stages.ended - stages.arrived }
}
