internal import Configuration
internal import Proxy

/// The pages that show calls with their headers and messages.
extension AdminPages {
    /// Streams the calls that begin from now on.
    func tap(_ request: AdminRequest, _ respond: (AdminResponse) -> Void) {
        do throws(TapQuery.Malformed) {
            let tap = try TapQuery.tap(request.query ?? AdminQuery())
            respond(
                .stream { [daemon] lines in
                    guard let workers = daemon.workers else { return lines.end() }
                    lines.onStall = { tap.setStalled($0) }
                    lines.onEnd = workers.subscribe(to: .tap(tap)) { [unowned lines] in lines.append($0) }
                }
            )
        } catch {
            respond(.text(error.text, status: 400))
        }
    }

    /// The line that repeats one of the calls that are kept, named by its id or by the beginning of that.
    func repeatedCall(_ request: AdminRequest, _ respond: @escaping (AdminResponse) -> Void) {
        let id = AdminRoute.name(in: request.path, by: "/calls/{name}/curl") ?? ""
        let view = request.query?["view"] ?? "caller"
        let tool = request.query?["with"] ?? ShellTool.curl.rawValue
        guard view == "caller" || view == "upstream" else {
            return respond(.text("\(Diagnostic.quote(view)) is not a view; write caller or upstream", status: 400))
        }
        guard let tool = ShellTool(rawValue: tool) else {
            let names = ShellTool.allCases.map(\.rawValue).joined(separator: ", ")
            return respond(.text("\(Diagnostic.quote(tool)) is not a tool; write one of \(names)", status: 400))
        }
        guard id.utf8.count >= 4 else {
            return respond(
                .text("\(Diagnostic.quote(id)) is too short; write 4 characters of the call's ID", status: 400)
            )
        }
        daemon.workers?.ask({ $0.recentCalls }) { calls in
            let found = calls.values.flatMap { $0 }.filter { $0.id.starts(with: id.utf8) }
            guard let call = found.first(where: { $0.caller != nil }) else {
                let kept = "calls that failed, and those of a tap, are kept"
                return respond(.text("the call \(Diagnostic.quote(id)) is not kept; \(kept)", status: 404))
            }
            guard Set(found.map(\.id)).count == 1 else {
                return respond(.text("\(found.count) calls begin with \(id); write more of the ID", status: 409))
            }
            guard let copy = view == "caller" ? call.caller : call.upstream else {
                let why = "it did not go upstream, no tap was open, or it may not be shown"
                return respond(.text("the call has no request to an upstream: \(why)", status: 404))
            }
            do throws(ShellTool.Unsuitable) {
                respond(.text(try tool.line(for: copy)))
            } catch {
                respond(.text(error.text, status: 422))
            }
        }
    }
}
