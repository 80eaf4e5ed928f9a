import Testing

@testable import Proxy

/// The files of a request are read in steps, and count for `limits.memory` as they are read.
@Suite struct RequestReadingTests {
    /// The number of steps of a request until its body is complete.
    private func steps(_ body: FetchBody, _ memory: MemoryBudget = MemoryBudget()) throws -> Int {
        var reading = RequestReading(FetchRequest(method: "POST", target: [], body: body), memory: memory)
        var steps = 1
        while true {
            if let result = reading.step() {
                _ = try result.get()
                return steps
            }
            steps += 1
        }
    }

    @Test func `the steps of a form are as many as its bytes require, whatever the bytes are`() throws {
        // The marks of earlier boundaries: a search for a boundary that is absent would be quadratic in them.
        let hostile = (0..<20_000).map { "martlet-\(String(repeating: "0", count: 16))\($0)" }.joined()
        let part = FetchBody.Part(head: [], content: .bytes(Array(hostile.utf8)))
        #expect(try steps(.multipart([part])) == 5)
        #expect(try steps(.multipart([part, part])) == 8)
    }

    @Test func `a large file is read in steps of 256 KiB`() throws {
        let file = TemporaryFile([])
        file.extend(to: 4 << 20)
        // Opening, 16 steps, the end of the file, and the result.
        #expect(try steps(.file(file.path)) == 19)
    }

    @Test func `a file counts from its opening on, until the request is released`() throws {
        let file = TemporaryFile([])
        file.extend(to: 1 << 20)
        let memory = MemoryBudget()
        do {
            let request = FetchRequest(method: "POST", target: [], body: .file(file.path))
            var reading = RequestReading(request, memory: memory)
            _ = reading.step()
            #expect(memory.used == 1 << 20)
            file.extend(to: 2 << 20)
            while reading.step() == nil {}
            #expect(memory.used == 2 << 20)
        }
        #expect(memory.used == 0)
    }

    @Test func `of files that do not fit together, those that came first are read`() throws {
        let file = TemporaryFile([])
        file.extend(to: 4 << 20)
        let memory = MemoryBudget(limit: 12 << 20)
        let request = FetchRequest(method: "POST", target: [], body: .file(file.path))
        var readings = (0..<5).map { _ in RequestReading(request, memory: memory) }
        var results: [Bool?] = Array(repeating: nil, count: readings.count)
        while let index = results.firstIndex(of: nil) {
            for index in index..<results.count where results[index] == nil {
                results[index] = readings[index].step().map { (try? $0.get()) != nil }
            }
        }
        #expect(results == [true, true, false, false, false])
    }

    @Test func `reading ends when the memory of all calls is exhausted`() throws {
        let file = TemporaryFile([])
        file.extend(to: 4 << 20)
        let memory = MemoryBudget(limit: 1 << 20)
        #expect(throws: NamedCallError.shortOfMemory) { try steps(.file(file.path), memory) }
        #expect(memory.used == 0)
    }
}

extension FetchRequest {
    /// The request with the bytes that its files have now.
    func loaded() throws -> FetchRequest {
        var reading = RequestReading(self, memory: MemoryBudget())
        while true {
            if let result = reading.step() { return try result.get().request }
        }
    }

    /// The body as it is sent, with the bytes that its files have now.
    var bytes: [UInt8] {
        get throws {
            guard case .bytes(let bytes) = try loaded().body else { return [] }
            return bytes
        }
    }
}
