internal import RPC

extension CountersSnapshot {
    /// The counts as metric families, with their samples in a stable order.
    ///
    /// - Parameter codeNames: the label `code` of each code, by its number.
    /// - Returns: the families, without those of the process and the configuration.
    public func families(codeNames: [StaticString]) -> [MetricFamily] {
        callFamilies(codeNames) + [
            MetricFamily(.rpcErrors, errorSamples(codeNames)),
            MetricFamily(.rpcInFlight, .number(inFlight)),
            interceptors.family(.interceptorVerdicts, VerdictLabel.allCases.map(\.label)),
            MetricFamily(.interceptorDuration, interceptors.samples { summary(ofInterceptor: $0) }),
            upstreams.family(.upstreamAttempts, AttemptResult.allCases.map(\.label)),
            MetricFamily(.upstreamRetries, upstreams.samples { .number(upstreams[$0, Self.upstreamRetries]) }),
            MetricFamily(.hedges, upstreams.names.indices.flatMap(hedges)),
            MetricFamily(.spoolFiles, upstreams.samples { .number(upstreams[$0, Self.spoolFiles]) }),
            MetricFamily(.spoolBytes, upstreams.samples { .number(upstreams[$0, Self.spoolBytes]) }),
            MetricFamily(.spoolErrors, upstreams.samples { .number(upstreams[$0, Self.spoolErrors]) }),
            MetricFamily(.upstreamCalls, upstreams.names.indices.flatMap { upstreamCalls($0, codeNames) }),
            MetricFamily(.upstreamCallDuration, upstreams.names.indices.compactMap(upstreamCallDuration)),
            pools.family(.upstreamConnections, ["idle", "active"]),
            MetricFamily(.upstreamConnectionsRetired, upstreams.samples { .number(upstreams[$0, Self.retired]) }),
            MetricFamily(.upstreamWaiting, pools.samples { .number(pools[$0, Self.waiting]) }),
            MetricFamily(.retries, RetryReason.allCases.flatMap(samples)),
            MetricFamily(.resumes, ResumeResult.allCases.map(sample)),
            MetricFamily(
                .cacheRequests,
                CacheLabel.allCases.map {
                    MetricSample([$0.label.description], .number(cacheRequests[Int($0.rawValue)]))
                }
            ),
            MetricFamily(.connections, listeners.samples { .number(openConnections(ofListener: $0)) }),
            MetricFamily(.connectionsTotal, listeners.samples { .number(listeners[$0, Self.opened]) }),
            MetricFamily(.connectionsEvicted, listeners.samples { .number(listeners[$0, Self.evicted]) }),
            MetricFamily(.tlsErrors, listeners.samples { .number(listeners[$0, Self.tlsErrors]) }),
            MetricFamily(.translated, TranslationLabel.allCases.map(sample)),
            MetricFamily(
                .unknownFields,
                zip(["request", "response"], unknownFields).map { MetricSample([$0], .number($1)) }
            ),
            MetricFamily(.limitHits, LimitLabel.allCases.map(sample)),
            MetricFamily(.http2LimitHits, HTTP2LimitLabel.allCases.map(sample)),
            MetricFamily(.badRequests, badRequests.samples { .number(badRequests[$0, 0]) }),
            MetricFamily(.rejections, RejectionLabel.allCases.map(sample)),
            MetricFamily(.logLinesDropped, .number(droppedLogLines)),
        ]
    }

    /// Failed calls: one sample for each code that somebody has let a call fail with.
    private func errorSamples(_ codeNames: [StaticString]) -> [MetricSample] {
        let codes = 0..<UInt8(RPCCode.allCases.count)
        let own = DeciderLabel.allCases.flatMap { decider in
            codes.map { (decider.label.description, $0, errors[Self.errorIndex(decider, code: $0)]) }
        }
        let others = interceptors.names.indices.flatMap { row in
            codes.map { ("interceptor:\(interceptors.names[row])", $0, interceptors[row, Self.errorCodes + Int($0)]) }
        }
        return (own + others).compactMap { decider, code, count in
            count == 0 ? nil : MetricSample([decider, codeNames.label(ofCode: Int(code))], .number(count))
        }
    }

    private func summary(ofInterceptor row: Int) -> MetricValue {
        .summary(count: interceptors[row, Self.timed], nanoseconds: interceptors[row, Self.time])
    }

    private func openConnections(ofListener row: Int) -> Int {
        listeners[row, Self.opened] - listeners[row, Self.closed]
    }

    /// The calls of an upstream by code: one sample for each code that some call has ended with.
    private func upstreamCalls(_ row: Int, _ codeNames: [StaticString]) -> [MetricSample] {
        (0..<Self.hedges - Self.codes).compactMap { code in
            let count = upstreams[row, Self.codes + code]
            guard count > 0 else { return nil }
            return MetricSample([upstreams.names[row], codeNames.label(ofCode: code)], .number(count))
        }
    }

    /// The further attempts of hedged calls; nothing for an upstream that has none.
    private func hedges(_ row: Int) -> [MetricSample] {
        let counts = HedgeLabel.allCases.map { ($0.label, upstreams[row, Self.hedges + Int($0.rawValue)]) }
        guard counts.contains(where: { $0.1 > 0 }) else { return [] }
        return counts.map { MetricSample([upstreams.names[row], $0.description], .number($1)) }
    }

    /// The durations of an upstream's calls; none if there was no call.
    private func upstreamCallDuration(_ row: Int) -> MetricSample? {
        let name = upstreams.names[row]
        guard (Self.codes..<Self.hedges).contains(where: { upstreams[row, $0] > 0 }) else { return nil }
        return upstreamDurations[name].map { MetricSample([name], .histogram($0)) }
    }

    private func sample(of result: ResumeResult) -> MetricSample {
        MetricSample([result.label.description], .number(resumes[Int(result.rawValue)]))
    }

    private func sample(of reason: RejectionLabel) -> MetricSample {
        MetricSample([reason.label.description], .number(rejections[Int(reason.rawValue)]))
    }

    private func sample(of translation: TranslationLabel) -> MetricSample {
        let (from, to) = translation.labels
        return MetricSample([from.description, to.description], .number(translations[Int(translation.rawValue)]))
    }

    private func sample(of limit: LimitLabel) -> MetricSample {
        MetricSample([limit.label.description], .number(limitHits[Int(limit.rawValue)]))
    }

    private func sample(of limit: HTTP2LimitLabel) -> MetricSample {
        MetricSample([limit.label.description], .number(http2LimitHits[Int(limit.rawValue)]))
    }

    /// The retries for a reason: those that were sent, and those that an interceptor asked for and that were skipped.
    private func samples(of reason: RetryReason) -> [MetricSample] {
        ([nil] + RetrySkipReason.allCases).map { skipped in
            let result = skipped?.label ?? "sent"
            let count = retries[Self.retryIndex(reason, skipped: skipped)]
            return MetricSample([reason.label.description, result.description], .number(count))
        }
    }

    private func callFamilies(_ codeNames: [StaticString]) -> [MetricFamily] {
        var started = MetricFamily(.rpcStarted)
        var handled = MetricFamily(.rpcHandled)
        var durations = MetricFamily(.rpcDuration)
        var received = MetricFamily(.rpcMessagesReceived)
        var sent = MetricFamily(.rpcMessagesSent)
        for (name, protocols) in calls.sorted(by: { $0.key < $1.key }) {
            for callProtocol in CallProtocol.allCases {
                guard let counts = protocols[callProtocol] else { continue }
                let labels = [callProtocol.label.description, name.service, name.method]
                started.samples.append(MetricSample(labels, .number(counts.started)))
                durations.samples.append(MetricSample(labels, .histogram(counts.durations)))
                if callProtocol != .http {
                    received.samples.append(MetricSample(labels, .number(counts.messages.received)))
                    sent.samples.append(MetricSample(labels, .number(counts.messages.sent)))
                }
                handled.samples += counts.handled.sorted { $0.key < $1.key }.map { outcome, count in
                    let code = codeNames.label(ofCode: Int(outcome.code))
                    return MetricSample([outcome.route.text] + labels + [code], .number(count))
                }
            }
        }
        return [started, handled, durations, received, sent]
    }
}

extension NamedCounts {
    /// One sample for each name.
    fileprivate func samples(_ value: (Int) -> MetricValue) -> [MetricSample] {
        names.indices.map { MetricSample([names[$0]], value($0)) }
    }

    /// One sample for each name and each of the first columns, which `labels` names.
    fileprivate func family(_ metric: Metric, _ labels: [StaticString]) -> MetricFamily {
        let samples = names.indices.flatMap { row in
            labels.indices.map { MetricSample([names[row], labels[$0].description], .number(self[row, $0])) }
        }
        return MetricFamily(metric, samples)
    }
}
