internal import Bytes
internal import Configuration
internal import Interceptors
internal import Proxy
internal import Telemetry

/// The pages about mocks.
extension AdminPages {
    private var memories: [MockMemory] {
        let names = (daemon.settings?.mocks ?? []).map(\.name)
        let all = daemon.budgets.shared.all(MockMemory.self)
        return names.compactMap { name in all.first { $0.name == name } }
    }

    /// The mock that is named; if there is none, the request is told so.
    private func memory(named name: String, _ respond: (AdminResponse) -> Void) -> MockMemory? {
        let memories = memories
        if let memory = memories.first(where: { $0.name == name }) { return memory }
        let advice =
            memories.isEmpty ? "no interceptor uses one" : Suggestion.text(for: name, among: memories.map(\.name))
        respond(.text("no mock is named \(Diagnostic.quote(name)); \(advice)", status: 404))
        return nil
    }

    func mocks(_ respond: (AdminResponse) -> Void) {
        let queue = ByteQueue()
        var json = JSONWriter(to: queue)
        json.beginArray("mocks")
        for memory in memories {
            json.beginItem(onNewLine: true)
            memory.describe(to: &json)
            json.endObject()
        }
        json.endArray()
        json.end()
        respond(.json(queue))
    }

    func mockCalls(_ request: AdminRequest, _ respond: (AdminResponse) -> Void) {
        guard let memory = memory(named: request.mockName, respond) else { return }
        let queue = ByteQueue()
        var json = JSONWriter(to: queue)
        memory.describeCalls(to: &json)
        json.end()
        respond(.json(queue))
    }

    func deleteMockCalls(_ request: AdminRequest, _ respond: (AdminResponse) -> Void) {
        guard let memory = memory(named: request.mockName, respond) else { return }
        memory.removeCalls()
        respond(.text("removed"))
    }

    func resetMocks(_ request: AdminRequest, _ respond: (AdminResponse) -> Void) {
        guard let name = request.query?["mock"] else {
            for memory in memories { memory.reset() }
            return respond(.text("reset"))
        }
        guard let memory = memory(named: name, respond) else { return }
        memory.reset()
        respond(.text("reset"))
    }

    func signalMocks(_ request: AdminRequest, _ respond: (AdminResponse) -> Void) {
        let known = Set(memories.flatMap(\.signals)).sorted()
        guard let name = request.query?["name"] else {
            return respond(.text("there is no name; write /mocks/signal?name=NAME", status: 400))
        }
        guard known.contains(name) else {
            let advice = known.isEmpty ? "no script has a step until" : Suggestion.text(for: name, among: known)
            return respond(.text("no mock waits for \(Diagnostic.quote(name)); \(advice)", status: 404))
        }
        let count = MockSignals.shared(in: daemon.budgets.shared).raise(name)
        respond(.text(count == 1 ? "1 call went on" : "\(count) calls went on"))
    }
}

extension AdminRequest {
    /// The mock that the path names.
    fileprivate var mockName: String { AdminRoute.name(in: path, by: "/mocks/{name}/calls") ?? "" }
}
