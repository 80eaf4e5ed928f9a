/// The metrics of upstreams and callers.
extension Metric {
    static let upstreamAttempts = Metric(
        "martlet_upstream_attempts_total",
        .counter,
        "Attempts on an upstream, by result.",
        labels: ["upstream", "result"]
    )
    static let upstreamRetries = Metric(
        "martlet_upstream_retries_total",
        .counter,
        "Retries started, by upstream.",
        labels: ["upstream"]
    )
    static let hedges = Metric(
        "martlet_hedges_total",
        .counter,
        "Attempts that hedging sent to another address, or did not send, by result.",
        labels: ["upstream", "result"]
    )
    static let spoolFiles = Metric(
        "martlet_spool_files",
        .gauge,
        "Requests to an upstream with a file that keeps them for a retry.",
        labels: ["upstream"]
    )
    static let spoolBytes = Metric(
        "martlet_spool_bytes",
        .gauge,
        "Bytes of requests to an upstream in such files.",
        labels: ["upstream"]
    )
    static let spoolErrors = Metric(
        "martlet_spool_errors_total",
        .counter,
        "Such files that could not be made, written or read. Their requests are not retried.",
        labels: ["upstream"]
    )
    static let upstreamCalls = Metric(
        "martlet_upstream_calls_total",
        .counter,
        "Calls to an upstream that have ended, by the status code that the caller received.",
        labels: ["upstream", "code"]
    )
    static let upstreamCallDuration = Metric(
        "martlet_upstream_call_duration_seconds",
        .histogram,
        "Time from the end of the request chain to the end of the call, with all attempts.",
        labels: ["upstream"]
    )
    static let upstreamConnections = Metric(
        "martlet_upstream_connections",
        .gauge,
        "Open connections to an upstream: idle without a call, active with calls.",
        labels: ["upstream", "state"]
    )
    static let upstreamConnectionsRetired = Metric(
        "martlet_upstream_connections_retired_total",
        .counter,
        "HTTP/2 connections to an upstream that got no more calls, because callers had canceled many on them.",
        labels: ["upstream"]
    )
    static let upstreamWaiting = Metric(
        "martlet_upstream_waiting",
        .gauge,
        "Calls waiting for a connection to an upstream.",
        labels: ["upstream"]
    )
    static let retries = Metric(
        "martlet_retries_total",
        .counter,
        "Retries that were due, by reason, and by result: sent, or why they were skipped.",
        labels: ["reason", "result"]
    )
    static let resumes = Metric(
        "martlet_resumes_total",
        .counter,
        "Responses that broke off, by result: resumed, or why they were not.",
        labels: ["result"]
    )
    static let cacheRequests = Metric(
        "martlet_cache_requests_total",
        .counter,
        "Requests that came to a cache, by what they received.",
        labels: ["result"]
    )
    /// The bytes that a cache holds, by `cache`.
    public static let cacheBytes = Metric(
        "martlet_cache_bytes",
        .gauge,
        "Bytes in a cache: keys, heads and bodies, also of responses that are being fetched.",
        labels: ["cache"]
    )
    /// The responses that a cache holds, by `cache`.
    public static let cacheObjects = Metric(
        "martlet_cache_objects",
        .gauge,
        "Entries in a cache: responses, and marks of responses that it does not store.",
        labels: ["cache"]
    )
    /// The responses that had to leave a cache, by `cache`.
    public static let cacheEvictions = Metric(
        "martlet_cache_evictions_total",
        .counter,
        "Entries that a cache has removed to make room for others.",
        labels: ["cache"]
    )
    /// 1 for an upstream that anybody can pass for, 0 for one whose certificate is verified, by `upstream`.
    public static let upstreamInsecure = Metric(
        "martlet_upstream_insecure",
        .gauge,
        "1 if the certificate of an https upstream is not verified, else 0.",
        labels: ["upstream"]
    )
    static let connections = Metric(
        "martlet_connections",
        .gauge,
        "Open connections from callers.",
        labels: ["listener"]
    )
    static let connectionsTotal = Metric(
        "martlet_connections_accepted_total",
        .counter,
        "Connections accepted from callers.",
        labels: ["listener"]
    )
    static let connectionsEvicted = Metric(
        "martlet_connections_evicted_total",
        .counter,
        "Connections from callers closed because file descriptors or limits.memory ran short.",
        labels: ["listener"]
    )
    /// The open descriptors of a use, by `use`.
    public static let descriptors = Metric(
        "martlet_descriptors",
        .gauge,
        "File descriptors used by connections from callers.",
        labels: ["use"]
    )
    /// The descriptors that there are for a use, by `use`.
    public static let descriptorsLimit = Metric(
        "martlet_descriptors_limit",
        .gauge,
        "File descriptors by purpose. Callers beyond their part lose idle connections.",
        labels: ["use"]
    )
    /// The bytes that count for `limits.memory`.
    public static let heldMemory = Metric(
        "martlet_held_memory_bytes",
        .gauge,
        "Memory held for calls and for incomplete heads."
    )
    /// The bytes of `limits.memory` that connections count for.
    public static let connectionMemory = Metric(
        "martlet_connection_memory_bytes",
        .gauge,
        "Memory that connections count for, without their calls."
    )
    /// The bytes of `limits.memory`.
    public static let heldMemoryLimit = Metric(
        "martlet_held_memory_limit_bytes",
        .gauge,
        "Limit of the memory held for calls (3/4) and connections (1/4): limits.memory or its default."
    )
    /// The addresses of an upstream, by `upstream` and `state`: `in`, `out` or `leaving`.
    public static let upstreamAddresses = Metric(
        "martlet_upstream_addresses",
        .gauge,
        "Addresses of an upstream whose calls are spread, by state.",
        labels: ["upstream", "state"]
    )
    /// How many health checks have ended, by `upstream` and `result`: `up`, `unknown` or `down`.
    public static let upstreamHealthChecks = Metric(
        "martlet_upstream_health_checks_total",
        .counter,
        "Health checks of addresses, by result. An address that does not know its service is unknown, and gets calls.",
        labels: ["upstream", "result"]
    )
    /// How often an address was put out, by `upstream` and `reason`: `connect`, `calls` or `health`.
    public static let upstreamEjections = Metric(
        "martlet_upstream_ejections_total",
        .counter,
        "How often an address got no more calls, because of its connections, its calls or its health checks.",
        labels: ["upstream", "reason"]
    )
    static let tlsErrors = Metric(
        "martlet_tls_errors_total",
        .counter,
        "Connections from callers that ended with a TLS error, in the handshake or later.",
        labels: ["listener"]
    )
    /// The Unix time, in seconds, at which the certificate of a listener ceases to be good, by `listener`.
    public static let certificateExpiry = Metric(
        "martlet_certificate_expiry_timestamp_seconds",
        .gauge,
        "Unix time at which the certificate in use expires.",
        labels: ["listener"]
    )
    /// The Unix time, in seconds, at which a credential ends, by `credential`.
    public static let credentialExpiry = Metric(
        "martlet_credential_expiry_timestamp_seconds",
        .gauge,
        "Unix time at which the credential in use expires, if known.",
        labels: ["credential"]
    )
    /// The fetches of a credential, by `credential` and `result`.
    public static let credentialRefreshes = Metric(
        "martlet_credential_refresh_total",
        .counter,
        "Fetches of a credential, by result.",
        labels: ["credential", "result"]
    )
    /// The spans that were to be exported, by `result`.
    public static let spans = Metric(
        "martlet_spans_total",
        .counter,
        "Spans for the tracing system, by what has become of them.",
        labels: ["result"]
    )
    /// The requests with metrics by OTLP, by `result`.
    public static let metricExports = Metric(
        "martlet_metric_exports_total",
        .counter,
        "Exports of metrics by OTLP, by what has become of them.",
        labels: ["result"]
    )
    /// The fetches of types by reflection, by `upstream` and `result`.
    public static let typesRefreshes = Metric(
        "martlet_types_refresh_total",
        .counter,
        "Fetches of types by reflection, by result.",
        labels: ["upstream", "result"]
    )
    /// The Unix time, in nanoseconds, of the last fetch of types that succeeded, by `upstream`.
    public static let typesRefreshTime = Metric(
        "martlet_types_last_refresh_success_timestamp_seconds",
        .gauge,
        "Unix time of the last successful fetch of types by reflection.",
        labels: ["upstream"]
    )
    /// 1 if the files of a listener's certificate were good when last read, else 0, by `listener`.
    public static let certificateReloadSuccessful = Metric(
        "martlet_certificate_last_reload_successful",
        .gauge,
        "1 if the certificate files were valid when last read, else 0, with the previous certificate in use.",
        labels: ["listener"]
    )
    static let translated = Metric(
        "martlet_translated_total",
        .counter,
        "Calls translated, from the protocol of the caller to that of the upstream.",
        labels: ["from", "to"]
    )
    static let unknownFields = Metric(
        "martlet_unknown_fields_total",
        .counter,
        "Fields left out of converted messages, because the type of the message does not have them.",
        labels: ["direction"]
    )
    static let limitHits = Metric(
        "martlet_limit_hits_total",
        .counter,
        "Times that a limit was reached.",
        labels: ["limit"]
    )
    static let http2LimitHits = Metric(
        "martlet_h2_limit_hits_total",
        .counter,
        "Times that a peer reached a limit of an HTTP/2 connection.",
        labels: ["limit"]
    )
    static let badRequests = Metric(
        "martlet_bad_requests_total",
        .counter,
        "Requests rejected because they are not valid HTTP.",
        labels: ["reason"]
    )
    static let rejections = Metric(
        "martlet_rejected_requests_total",
        .counter,
        "Requests rejected because of their host, or the origin of the web page that sent them.",
        labels: ["reason"]
    )
    static let logLinesDropped = Metric(
        "martlet_log_lines_dropped_total",
        .counter,
        "Log lines dropped because nobody read them in time."
    )
}
