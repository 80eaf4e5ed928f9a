internal import Bytes
internal import Configuration
internal import HTTP
internal import Proxy
internal import RPC

/// Takes calls of known tenants only, and holds each to what it may send.
///
/// The plan has the options and their check. It is made once, and all workers share it.
struct TenantPlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "tenant",
        summary: "Takes calls of known tenants only, tells the upstream their plan, and limits the messages of a call.",
        options: [
            Option("header", .string, default: "x-tenant", "The request header that names the tenant."),
            Option("tenants", .named(tenantOptions, shorthand: "plan"), required: true, "Who is known, by name."),
            Option("trace", .string, default: "{call.id}", "The value of x-trace for the upstream; may be a template."),
        ],
        plan: { section, _ in TenantPlan(section) }
    )

    private static let tenantOptions = [
        Option("plan", .string, required: true, example: "gold", "What the upstream is told in x-plan."),
        Option("messages", .integer(in: 1...1_000_000), default: "1000", "The most messages in one request."),
    ]

    let events: EventSet = [.requestHead, .requestMessages, .responseEnd]
    /// Messages are handed over when the head has gone on, so that the tenant is known by then.
    let isSerial = true
    let header: FieldName
    let trace: Template
    let directory: Directory

    private init(_ section: Section) {
        header = HeaderName.checked(section.string("header"), at: "header", of: section)
        trace = Template(section.string("trace"), at: section.mark(of: "trace"), into: section.diagnostics)
        var tenants: [String: Tenant] = [:]
        for entry in section.named("tenants") {
            let (name, options) = (entry.name, entry.section)
            if name != name.lowercased() {
                section.diagnostics.report("the names of tenants are in small letters", at: entry.mark)
            }
            HeaderValue.check(options.string("plan"), at: options.mark(of: "plan"), into: options.diagnostics)
            tenants[name] = Tenant(plan: Array(options.string("plan").utf8), messages: options.integer("messages"))
        }
        directory = Directory(tenants)
    }

    func instance(on worker: WorkerServices) -> any Interceptor { TenantInterceptor(self) }
}

/// What is known of a tenant.
struct Tenant: Sendable {
    let plan: [UInt8]
    let messages: Int
}

/// Knows the tenants: stands for whatever has to be waited for, such as a database.
actor Directory {
    private let tenants: [String: Tenant]

    init(_ tenants: [String: Tenant]) {
        self.tenants = tenants
    }

    func tenant(_ name: String) -> Tenant? {
        tenants[name]
    }
}

/// Looks after the calls of one worker.
final class TenantInterceptor: Interceptor {
    /// What is kept for one call.
    struct CallState {
        let tenant: Tenant
        var messages = 0
    }

    private let plan: TenantPlan
    private let countHeader = FieldName("x-messages")
    private let planHeader = FieldName("x-plan")
    private let traceHeader = FieldName("x-trace")
    private let scratch = ByteQueue(keeping: 256)

    init(_ plan: TenantPlan) {
        self.plan = plan
    }

    func requestHead(_ call: Call) -> Verdict {
        let request = call.request
        guard let index = request.first(plan.header) else {
            return .reject(RPCError(.unauthenticated, "the call does not name its tenant"))
        }
        let name = request.value(at: index).string.lowercased()
        // What is asked may take its time; the thread goes on with other calls.
        return .suspend { [directory = plan.directory] in
            await directory.tenant(name)
        } then: { [self] tenant, waited in
            guard let tenant else { return .reject(RPCError(.permissionDenied, "\(name) is no tenant here")) }
            waited.call[stateOf: self] = CallState(tenant: tenant)
            mark(waited.call, name, tenant)
            return .next
        }
    }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        call[stateOf: self]?.messages += 1
        guard let state = call[stateOf: self], state.messages > state.tenant.messages else { return .next }
        return .reject(
            RPCError(
                .resourceExhausted,
                "\(state.tenant.messages) messages are all that this tenant may send in a call"
            )
        )
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        end.trailers.set(countHeader, Array("\(call[stateOf: self]?.messages ?? 0)".utf8).span)
        return .next
    }

    /// Tells the upstream who calls.
    private func mark(_ call: Call, _ name: String, _ tenant: Tenant) {
        let (request, scratch) = (call.request, scratch)
        request.set(plan.header, Array(name.utf8).span)
        request.set(planHeader, tenant.plan.span)
        plan.trace.render(for: call, to: scratch)
        request.set(traceHeader, scratch.readable)
        scratch.removeAll()
    }
}
