internal import Bytes
internal import Configuration
internal import HTTP
internal import Proxy
internal import RPC

/// Takes calls of known tenants only, and holds each to what it may send.
///
/// Everything about the kind is in this file: its options, its check of them, and its hooks.
final class TenantInterceptor: Interceptor {
    static let kind = InterceptorKind(
        name: "tenant",
        summary: "Takes calls of known tenants only, tells the upstream their plan, and limits the messages of a call.",
        options: [
            Option("header", .string, default: "x-tenant", "The request header that names the tenant."),
            Option("tenants", .named(tenantOptions, shorthand: "plan"), required: true, "Who is known, by name."),
            Option("trace", .string, default: "{call.id}", "The value of x-trace for the upstream; may be a template."),
        ],
        make: { section, _ in TenantInterceptor(Rules(section)) }
    )

    private static let tenantOptions = [
        Option("plan", .string, required: true, example: "gold", "What the upstream is told in x-plan."),
        Option("messages", .integer(in: 1...1_000_000), default: "1000", "The most messages in one request."),
    ]

    let events: EventSet = [.requestHead, .requestMessages, .responseEnd]
    /// Messages are handed over when the head has gone on, so that the tenant is known by then.
    let isSerial = true
    private let rules: Rules
    private var tenant: Tenant?
    private var messages = 0

    private init(_ rules: Rules) {
        self.rules = rules
    }

    /// Each call has an instance of its own, which counts; the rules are those of the worker.
    func forCall() -> any Interceptor {
        TenantInterceptor(rules)
    }

    func requestHead(_ call: Call) -> Verdict {
        let request = call.request
        guard let index = request.first(rules.header) else {
            return .reject(RPCError(.unauthenticated, "the call does not name its tenant"))
        }
        let name = request.value(at: index).string.lowercased()
        // What is asked may take its time; the thread goes on with other calls.
        return .suspend { [directory = rules.directory] in
            await directory.tenant(name)
        } then: { [self] tenant, _ in
            guard let tenant else { return .reject(RPCError(.permissionDenied, "\(name) is no tenant here")) }
            self.tenant = tenant
            rules.mark(call, name, tenant)
            return .next
        }
    }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        messages += 1
        guard let maxMessages = tenant?.messages, messages > maxMessages else { return .next }
        return .reject(
            RPCError(.resourceExhausted, "\(maxMessages) messages are all that this tenant may send in a call")
        )
    }

    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict {
        end.trailers.set(rules.countHeader, Array("\(messages)".utf8).span)
        return .next
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

    /// The options, read and checked once for each worker.
    final class Rules {
        let header: FieldName
        let directory: Directory
        let countHeader = FieldName("x-messages")
        private let planHeader = FieldName("x-plan")
        private let traceHeader = FieldName("x-trace")
        private let trace: Template
        private let scratch = ByteQueue(keeping: 256)

        init(_ section: Section) {
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

        /// Tells the upstream who calls.
        func mark(_ call: Call, _ name: String, _ tenant: Tenant) {
            let (request, scratch) = (call.request, scratch)
            request.set(header, Array(name.utf8).span)
            request.set(planHeader, tenant.plan.span)
            trace.render(for: call, to: scratch)
            request.set(traceHeader, scratch.readable)
            scratch.removeAll()
        }
    }
}
