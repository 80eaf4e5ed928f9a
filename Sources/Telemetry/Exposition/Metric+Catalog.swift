/// All metrics there are; the reference page is made from this table.
extension Metric {
    /// All metrics, in the order of the reference page.
    public static let all: [Metric] = [
        rpcStarted, rpcHandled, rpcDuration, rpcMessagesReceived, rpcMessagesSent, rpcInFlight, interceptorVerdicts,
        interceptorDuration,
        upstreamAttempts, upstreamRetries, upstreamCalls, upstreamCallDuration, upstreamConnections, upstreamWaiting,
        upstreamInsecure, retries, credentialExpiry, credentialRefreshes, connections, connectionsTotal,
        connectionsEvicted, descriptors, descriptorsLimit, heldMemory, heldMemoryLimit, tlsErrors,
        certificateExpiry, certificateReloadSuccessful, limitHits, http2LimitHits, badRequests, rejections,
        logLinesDropped, buildInfo, ready, configGeneration, configGenerationsLive, configReloads,
        configReloadSuccessful,
        configReloadTime, heapInUse,
        processCPU, processMemory, processVirtualMemory, processFiles, processMaxFiles, processThreads,
        processStartTime,
    ]

    // MARK: Calls

    static let rpcStarted = Metric(
        "martlet_rpc_started_total",
        .counter,
        "Calls that have started; those of a method seen for the first time are added when it responds.",
        labels: ["protocol", "rpc_service", "rpc_method"]
    )
    static let rpcHandled = Metric(
        "martlet_rpc_handled_total",
        .counter,
        "Calls that have ended, by route and code. A route without a name goes by its number.",
        labels: ["route", "protocol", "rpc_service", "rpc_method", "code"]
    )
    static let rpcDuration = Metric(
        "martlet_rpc_duration_seconds",
        .histogram,
        "Time from the arrival of a call to its end.",
        labels: ["protocol", "rpc_service", "rpc_method"]
    )
    static let rpcMessagesReceived = Metric(
        "martlet_rpc_msg_received_total",
        .counter,
        "Messages that came from callers, in calls that have ended.",
        labels: ["protocol", "rpc_service", "rpc_method"]
    )
    static let rpcMessagesSent = Metric(
        "martlet_rpc_msg_sent_total",
        .counter,
        "Messages that went to callers, in calls that have ended.",
        labels: ["protocol", "rpc_service", "rpc_method"]
    )
    static let rpcInFlight = Metric(
        "martlet_rpc_in_flight",
        .gauge,
        "Calls that have started and not ended."
    )
    static let interceptorVerdicts = Metric(
        "martlet_interceptor_verdicts_total",
        .counter,
        "Verdicts of an interceptor other than to go on.",
        labels: ["interceptor", "verdict"]
    )
    static let interceptorDuration = Metric(
        "martlet_interceptor_duration_seconds",
        .summary,
        "Time that an interceptor took with an event: of one call in sixteen, and of all that it suspended.",
        labels: ["interceptor"]
    )

    // MARK: Upstreams and callers

    static let upstreamAttempts = Metric(
        "martlet_upstream_attempts_total",
        .counter,
        "Attempts of calls on an upstream, by what became of them.",
        labels: ["upstream", "result"]
    )
    static let upstreamRetries = Metric(
        "martlet_upstream_retries_total",
        .counter,
        "Retries begun, by upstream.",
        labels: ["upstream"]
    )
    static let upstreamCalls = Metric(
        "martlet_upstream_calls_total",
        .counter,
        "Calls sent to an upstream that have ended, by the code that the caller got.",
        labels: ["upstream", "code"]
    )
    static let upstreamCallDuration = Metric(
        "martlet_upstream_call_duration_seconds",
        .histogram,
        "Time from when a call leaves the chain for its upstream to its end, with all attempts.",
        labels: ["upstream"]
    )
    static let upstreamConnections = Metric(
        "martlet_upstream_connections",
        .gauge,
        "Open connections to an upstream: idle without a call, active with calls.",
        labels: ["upstream", "state"]
    )
    static let upstreamWaiting = Metric(
        "martlet_upstream_waiting",
        .gauge,
        "Calls that wait for a connection to an upstream.",
        labels: ["upstream"]
    )
    static let retries = Metric(
        "martlet_retries_total",
        .counter,
        "Retries that were due, by reason, and by result: sent, or why they were skipped.",
        labels: ["reason", "result"]
    )
    /// 1 for an upstream that anybody can pass for, 0 for one whose certificate is verified, by `upstream`.
    public static let upstreamInsecure = Metric(
        "martlet_upstream_insecure",
        .gauge,
        "1 if the certificate of the upstream is not verified, else 0; for https upstreams.",
        labels: ["upstream"]
    )
    static let connections = Metric(
        "martlet_connections",
        .gauge,
        "Connections of callers that are open.",
        labels: ["listener"]
    )
    static let connectionsTotal = Metric(
        "martlet_connections_total",
        .counter,
        "Connections of callers that were taken.",
        labels: ["listener"]
    )
    static let connectionsEvicted = Metric(
        "martlet_connections_evicted_total",
        .counter,
        "Idle connections of callers that Martlet closed because it ran short of file descriptors.",
        labels: ["listener"]
    )
    /// The open descriptors of a use, by `use`.
    public static let descriptors = Metric(
        "martlet_descriptors",
        .gauge,
        "File descriptors that the connections of callers take.",
        labels: ["use"]
    )
    /// The descriptors that there are for a use, by `use`.
    public static let descriptorsLimit = Metric(
        "martlet_descriptors_limit",
        .gauge,
        "File descriptors by what they are for: callers beyond theirs lose idle connections; the rest is reserved.",
        labels: ["use"]
    )
    /// The bytes that count for `limits.memory`.
    public static let heldMemory = Metric(
        "martlet_held_memory_bytes",
        .gauge,
        "Memory held for calls and for heads that have come in part."
    )
    /// The bytes of `limits.memory`.
    public static let heldMemoryLimit = Metric(
        "martlet_held_memory_limit_bytes",
        .gauge,
        "Memory that may be held for calls: limits.memory, or its default."
    )
    static let tlsErrors = Metric(
        "martlet_tls_errors_total",
        .counter,
        "Connections of callers that TLS ended: the handshake failed, or what came after it was not as it has to be.",
        labels: ["listener"]
    )
    /// The Unix time, in seconds, at which the certificate of a listener ceases to be good, by `listener`.
    public static let certificateExpiry = Metric(
        "martlet_certificate_expiry_timestamp_seconds",
        .gauge,
        "Unix time at which the certificate in use ceases to be good.",
        labels: ["listener"]
    )
    /// The Unix time, in seconds, at which a credential ends, by `credential`.
    public static let credentialExpiry = Metric(
        "martlet_credential_expiry_timestamp_seconds",
        .gauge,
        "Unix time at which the credential in use ends, where that is known.",
        labels: ["credential"]
    )
    /// The fetches of a credential, by `credential` and `result`.
    public static let credentialRefreshes = Metric(
        "martlet_credential_refresh_total",
        .counter,
        "Fetches of a credential, by what became of them.",
        labels: ["credential", "result"]
    )
    /// 1 if the files of a listener's certificate were good when last read, else 0, by `listener`.
    public static let certificateReloadSuccessful = Metric(
        "martlet_certificate_last_reload_successful",
        .gauge,
        "1 if the files of the certificate were good when they were last read, else 0; the one before is in use then.",
        labels: ["listener"]
    )
    static let limitHits = Metric(
        "martlet_limit_hits_total",
        .counter,
        "Times somebody ran into a limit.",
        labels: ["limit"]
    )
    static let http2LimitHits = Metric(
        "martlet_h2_limit_hits_total",
        .counter,
        "Times the other side of an HTTP/2 connection ran into a limit.",
        labels: ["limit"]
    )
    static let badRequests = Metric(
        "martlet_bad_requests_total",
        .counter,
        "Requests rejected because they are not good HTTP.",
        labels: ["reason"]
    )
    static let rejections = Metric(
        "martlet_rejected_requests_total",
        .counter,
        "Requests rejected for the host they name, or for the origin of the web page behind them.",
        labels: ["reason"]
    )
    static let logLinesDropped = Metric(
        "martlet_log_lines_dropped_total",
        .counter,
        "Log lines dropped because nobody took them in time."
    )

    // MARK: Process and configuration

    /// Always 1; the label is the version.
    public static let buildInfo = Metric(
        "martlet_build_info",
        .gauge,
        "Always 1; the label tells which version is running.",
        labels: ["version"]
    )
    /// Whether new calls should be sent to the daemon.
    public static let ready = Metric("martlet_ready", .gauge, "Whether /readyz says ready: 1 if it does, else 0.")
    /// The number of the configuration in use.
    public static let configGeneration = Metric(
        "martlet_config_generation",
        .gauge,
        "Number of the configuration in use; the first is 1."
    )
    /// How many configurations are in use, the ones that older calls hold included.
    public static let configGenerationsLive = Metric(
        "martlet_config_generations_live",
        .gauge,
        "Configurations in use, among them older ones that calls still hold."
    )
    /// How often a reload succeeded or failed, by `result`.
    public static let configReloads = Metric(
        "martlet_config_reloads_total",
        .counter,
        "Reloads of the configuration, by result.",
        labels: ["result"]
    )
    /// 1 if the last load succeeded, else 0.
    public static let configReloadSuccessful = Metric(
        "martlet_config_last_reload_successful",
        .gauge,
        "1 if the configuration was last loaded without errors, else 0."
    )
    /// The Unix time of the last load that succeeded, in nanoseconds.
    public static let configReloadTime = Metric(
        "martlet_config_last_reload_success_timestamp_seconds",
        .gauge,
        "Unix time at which a configuration was last taken into use."
    )
    /// The bytes that are allocated and not freed.
    public static let heapInUse = Metric(
        "martlet_heap_in_use_bytes",
        .gauge,
        "Memory that is allocated and not freed; else the program, its stacks and what the allocator keeps are resident."
    )
    /// The processor time used, in nanoseconds.
    public static let processCPU = Metric(
        "process_cpu_seconds_total",
        .counter,
        "Processor time used, user and system."
    )
    /// The resident memory in bytes.
    public static let processMemory = Metric(
        "process_resident_memory_bytes",
        .gauge,
        "Resident memory."
    )
    /// The virtual memory in bytes.
    public static let processVirtualMemory = Metric(
        "process_virtual_memory_bytes",
        .gauge,
        "Virtual memory."
    )
    /// The number of open file descriptors.
    public static let processFiles = Metric(
        "process_open_fds",
        .gauge,
        "Open file descriptors."
    )
    /// The number of file descriptors that may be open.
    public static let processMaxFiles = Metric(
        "process_max_fds",
        .gauge,
        "File descriptors that may be open: the soft limit."
    )
    /// The number of threads.
    public static let processThreads = Metric(
        "process_threads",
        .gauge,
        "Threads of the process."
    )
    /// The Unix time at which the process started, in nanoseconds.
    public static let processStartTime = Metric(
        "process_start_time_seconds",
        .gauge,
        "Unix time at which the process started."
    )
}
