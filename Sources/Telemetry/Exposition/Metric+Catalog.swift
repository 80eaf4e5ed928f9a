/// All metrics there are; the reference page is made from this table.
extension Metric {
    /// All metrics, in the order of the reference page.
    public static let all: [Metric] = [
        rpcStarted, rpcHandled, rpcDuration, rpcErrors, rpcMessagesReceived, rpcMessagesSent, rpcInFlight,
        interceptorVerdicts,
        interceptorDuration,
        upstreamAttempts, upstreamRetries, hedges, spoolFiles, spoolBytes, spoolErrors, upstreamCalls,
        upstreamCallDuration, upstreamConnections, upstreamConnectionsRetired,
        upstreamWaiting,
        upstreamAddresses,
        upstreamEjections, upstreamHealthChecks, upstreamInsecure, retries, resumes,
        cacheRequests, cacheBytes, cacheObjects, cacheEvictions, credentialExpiry, credentialRefreshes,
        typesRefreshes,
        typesRefreshTime, spans, metricExports, connections,
        connectionsTotal,
        connectionsEvicted, descriptors, descriptorsLimit, heldMemory, connectionMemory, heldMemoryLimit, tlsErrors,
        certificateExpiry, certificateReloadSuccessful, translated, unknownFields, limitHits, http2LimitHits,
        badRequests, rejections,
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
        "Calls started. A call of a new method is added when it responds.",
        labels: ["protocol", "rpc_service", "rpc_method"]
    )
    static let rpcHandled = Metric(
        "martlet_rpc_handled_total",
        .counter,
        "Calls ended, by route and code. A route without a name has its index.",
        labels: ["route", "protocol", "rpc_service", "rpc_method", "code"]
    )
    static let rpcDuration = Metric(
        "martlet_rpc_duration_seconds",
        .histogram,
        "Time from the arrival of a call to its end.",
        labels: ["protocol", "rpc_service", "rpc_method"]
    )
    static let rpcErrors = Metric(
        "martlet_rpc_errors_total",
        .counter,
        "Calls ended with a code other than ok, by who decided that, as the access log says.",
        labels: ["decided_by", "code"]
    )
    static let rpcMessagesReceived = Metric(
        "martlet_rpc_msg_received_total",
        .counter,
        "Messages received from callers, in calls that have ended.",
        labels: ["protocol", "rpc_service", "rpc_method"]
    )
    static let rpcMessagesSent = Metric(
        "martlet_rpc_msg_sent_total",
        .counter,
        "Messages sent to callers, in calls that have ended.",
        labels: ["protocol", "rpc_service", "rpc_method"]
    )
    static let rpcInFlight = Metric(
        "martlet_rpc_in_flight",
        .gauge,
        "Calls in progress."
    )
    static let interceptorVerdicts = Metric(
        "martlet_interceptor_verdicts_total",
        .counter,
        "Verdicts of an interceptor, except those that pass the event on.",
        labels: ["interceptor", "verdict"]
    )
    static let interceptorDuration = Metric(
        "martlet_interceptor_duration_seconds",
        .summary,
        "Time of an interceptor for an event, sampled in one of 16 calls and in every suspended one.",
        labels: ["interceptor"]
    )

    // MARK: Process and configuration

    /// Always 1; the label is the version.
    public static let buildInfo = Metric(
        "martlet_build_info",
        .gauge,
        "Always 1. The label has the version.",
        labels: ["version"]
    )
    /// Whether new calls should be sent to the daemon.
    public static let ready = Metric("martlet_ready", .gauge, "1 if /readyz reports ready, else 0.")
    /// The number of the configuration in use.
    public static let configGeneration = Metric(
        "martlet_config_generation",
        .gauge,
        "Number of the configuration in use. The first is 1."
    )
    /// How many configurations are in use, the ones that older calls hold included.
    public static let configGenerationsLive = Metric(
        "martlet_config_generations_live",
        .gauge,
        "Configurations in use, including older ones that calls still hold."
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
        "1 if the last load of the configuration succeeded, else 0."
    )
    /// The Unix time of the last load that succeeded, in nanoseconds.
    public static let configReloadTime = Metric(
        "martlet_config_last_reload_success_timestamp_seconds",
        .gauge,
        "Unix time of the last successful load of the configuration."
    )
    /// The bytes that are allocated and not freed.
    public static let heapInUse = Metric(
        "martlet_heap_in_use_bytes",
        .gauge,
        "Memory that is allocated and not freed."
    )
    /// The processor time used, in nanoseconds.
    public static let processCPU = Metric(
        "process_cpu_seconds_total",
        .counter,
        "CPU time used, user and system."
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
        "Maximum number of open file descriptors (the soft limit)."
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
