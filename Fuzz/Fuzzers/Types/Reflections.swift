internal import Bytes

@testable internal import Types

/// What a server says by reflection: whatever it is, a session ends, and asks for nothing twice.
enum Reflections {
    static func run(_ input: Span<UInt8>) {
        var session = ReflectionSession()
        var (asked, position) = (Set<[UInt8]>(), 0)
        do throws(ReflectionError) {
            while true {
                while let request = session.nextRequest() {
                    demand(asked.insert(request).inserted, "nothing is asked for twice")
                }
                guard !session.isComplete else { break }
                let place = next(input, &position)
                try session.receive(input.extracting(place))
                demand(asked.count <= input.count + 1, "each question has a reason")
            }
            let files = try session.result().files
            demand(Set(files.map(\.name)).count == files.count, "each file is there once")
            _ = try? TypeSet([DescriptorSet(source: "input", files: files)])
        } catch {
            demand(!error.text.isEmpty, "an error has words")
        }
    }

    /// Where the next message lies, of which two bytes say how long it is; behind the last one come empty ones.
    private static func next(_ input: Span<UInt8>, _ position: inout Int) -> Range<Int> {
        guard position + 2 <= input.count else { return input.count..<input.count }
        let length = Int(input[position]) << 8 | Int(input[position + 1])
        let start = position + 2
        position = min(input.count, start + length)
        return start..<position
    }
}
