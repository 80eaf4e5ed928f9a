import Bytes
import Testing

@testable import Types

/// What is asked of a reflection service, and what is made of its responses.
struct ReflectionSessionTests {
    // MARK: What a server says

    private static func services(_ names: String...) -> [UInt8] { services(names) }

    private static func services(_ names: [String]) -> [UInt8] {
        Wire.bytes(6, names.flatMap { Wire.bytes(1, Wire.text(1, $0)) })
    }

    private static func files(_ files: [UInt8]...) -> [UInt8] {
        Wire.bytes(4, files.flatMap { Wire.bytes(1, $0) })
    }

    private static func error(_ code: UInt64, _ text: String) -> [UInt8] {
        Wire.bytes(7, Wire.number(1, code) + Wire.text(2, text))
    }

    private static func file(_ name: String, service: String? = nil, imports: [String] = []) -> [UInt8] {
        let schema = Schema(name, package: "p", imports: imports).message("M\(name.count)", [])
        return (service.map { schema.service($0, "Do", "p.M", "p.M") } ?? schema).bytes
    }

    private static let list = Wire.bytes(7, [])
    private static func symbol(_ name: String) -> [UInt8] { Wire.text(4, name) }
    private static func byName(_ name: String) -> [UInt8] { Wire.text(3, name) }

    /// Hands responses over, and collects all requests.
    private func run(
        _ session: inout ReflectionSession,
        _ responses: [UInt8]...
    ) throws(ReflectionError) -> [[UInt8]] {
        var requests: [[UInt8]] = []
        while let request = session.nextRequest() { requests.append(request) }
        for response in responses {
            try session.receive(response.span)
            while let request = session.nextRequest() { requests.append(request) }
        }
        return requests
    }

    private func names(_ session: ReflectionSession) throws -> [String] { try session.result().files.map(\.name) }

    // MARK: The order of things

    @Test func `services come first, then their files, then the imports that are missing`() throws {
        var session = ReflectionSession()
        let requests = try run(
            &session,
            Self.services("p.B", "grpc.reflection.v1.ServerReflection", "p.A"),
            Self.files(Self.file("a", service: "A", imports: ["c", "d"])),
            Self.files(Self.file("b", service: "B", imports: ["c"]), Self.file("d")),
            Self.files(Self.file("c", imports: ["e"])),
            Self.files(Self.file("d")),
            Self.files(Self.file("e"))
        )
        #expect(
            requests == [
                Self.list, Self.symbol("p.A"), Self.symbol("p.B"), Self.byName("d"), Self.byName("c"), Self.byName("e"),
            ]
        )
        #expect(session.isComplete)
        #expect(try names(session) == ["a", "b", "c", "d", "e"])
    }

    @Test func `imports that come together with their file are not asked for`() throws {
        var session = ReflectionSession()
        let file = Self.file("a", service: "A", imports: ["c"])
        let requests = try run(&session, Self.services("p.A"), Self.files(file, Self.file("c")))
        #expect(requests == [Self.list, Self.symbol("p.A")])
        #expect(session.isComplete)
        #expect(try names(session) == ["a", "c"])
    }

    @Test func `so many requests are under way at a time, and no more`() throws {
        var session = ReflectionSession()
        let names = (0..<40).map { "p.S\($0 + 10)" }
        let first = try run(&session, Self.services(names))
        #expect(first.count == 1 + 16)
        // One file defines them all: the others need not be asked for.
        let all = names.reduce(Schema("a", package: "p")) { $0.service(String($1.dropFirst(2)), "Do", "p.M", "p.M") }
        #expect(try run(&session, Self.files(all.bytes)) == [])
        #expect(!session.isComplete)
        for _ in 1..<16 { #expect(try run(&session, Self.files(all.bytes)) == []) }
        #expect(session.isComplete)
        #expect(try self.names(session) == ["a"])
    }

    @Test func `files of other origin are neither asked for nor replaced`() throws {
        let own = DescriptorFile.files(of: Schema.set([Schema("c", package: "p").service("C", "Do", "p.M", "p.M")]))
        #expect(own.map(\.name) == ["c"] && own.map(\.services) == [["p.C"]])
        var session = ReflectionSession(known: own)
        let file = Self.file("a", service: "A", imports: ["c"])
        let requests = try run(&session, Self.services("p.A", "p.C"), Self.files(file, Self.file("c", service: "X")))
        #expect(requests == [Self.list, Self.symbol("p.A")])
        #expect(try names(session) == ["a"])
        var nothing = ReflectionSession(known: own)
        #expect(try run(&nothing, Self.services("p.C")) == [Self.list])
        #expect(nothing.isComplete)
        #expect(try names(nothing) == [])
    }

    @Test func `a service that the server has no file of is left out`() throws {
        var session = ReflectionSession()
        _ = try run(
            &session,
            Self.services("p.A", "p.B", "p.C"),
            Self.files(Self.file("a", service: "A")),
            Self.error(5, "not found"),
            Self.files(Self.file("other"))
        )
        #expect(session.isComplete)
        #expect(try session.result().leftOut == ["p.B", "p.C"])
        #expect(try names(session) == ["a", "other"])
    }

    @Test func `a cycle of imports ends`() throws {
        var session = ReflectionSession()
        _ = try run(
            &session,
            Self.services("p.A"),
            Self.files(Self.file("a", service: "A", imports: ["b"])),
            Self.files(Self.file("b", imports: ["a"]))
        )
        #expect(session.isComplete)
        let files = try session.result().files
        #expect(throws: TypeSetError.self) { try TypeSet([DescriptorSet(source: "reflection", files: files)]) }
    }

    // MARK: Errors

    private func error(_ responses: [UInt8]...) -> ReflectionError? {
        var session = ReflectionSession()
        do throws(ReflectionError) {
            for response in responses { _ = try run(&session, response) }
            _ = try session.result()
        } catch {
            return error
        }
        return nil
    }

    @Test func `each error has its name`() {
        let list = Self.services("p.A")
        #expect(error(Self.services()) == .noServices)
        #expect(error(Self.services("grpc.reflection.v1.ServerReflection")) == .noServices)
        #expect(error(Self.files()) == .unexpected)
        #expect(error([]) == .unexpected)
        #expect(error(list, list) == .unexpected)
        #expect(error(list, Self.files(Self.file("a", service: "A")), Self.files()) == .unexpected)
        #expect(error([0x32]) == .malformed)
        #expect(error(list, Self.files([0xff, 0xff])) == .malformed)
        #expect(error(list, Self.files([])) == .malformed)
        #expect(error(Self.error(7, "no")) == .rejected("the list of services", code: 7, "no"))
        #expect(error(list, Self.error(13, "broken")) == .rejected("p.A", code: 13, "broken"))
        #expect(error(list, Self.error(5, "not there")) == .rejected("p.A", code: 5, "not there"))
        let file = Self.files(Self.file("a", service: "A", imports: ["b"]))
        #expect(error(list, file, Self.error(5, "")) == .missingImport("b"))
        #expect(error(list, file, Self.files(Self.file("c"))) == .missingImport("b"))
        #expect(error(Self.services((0...10_000).map { "p.S\($0)" })) == .tooManyServices)
    }

    @Test func `files that do not end are too many`() throws {
        var session = ReflectionSession()
        _ = try run(&session, Self.services("p.A"))
        _ = try run(&session, Self.files(Self.file("f0", service: "A", imports: ["f1"])))
        var count = 1
        #expect(throws: ReflectionError.tooManyFiles) {
            while count < 10_000 {
                let requests = try run(&session, Self.files(Self.file("f\(count)", imports: ["f\(count + 1)"])))
                #expect(requests == [Self.byName("f\(count + 1)")])
                count += 1
            }
        }
        #expect(count == ReflectionSession.maxFiles)
    }

    @Test func `files that are too large together are an error`() throws {
        var session = ReflectionSession()
        _ = try run(&session, Self.services("p.A"))
        let large = Wire.bytes(99, Array(repeating: 0, count: 6 << 20))
        let files = (0..<3).map { Wire.bytes(1, Self.file("f\($0)", service: "A") + large) }
        #expect(throws: ReflectionError.tooLarge) {
            _ = try run(&session, Wire.bytes(4, files[0] + files[1] + files[2]))
        }
        // The same file again costs nothing.
        session = ReflectionSession()
        _ = try run(&session, Self.services("p.A"), Wire.bytes(4, files[0] + files[0] + files[0] + files[1]))
        #expect(try names(session) == ["f0", "f1"])
    }

    @Test func `what a package and many services cost is known before their names are made`() {
        var session = ReflectionSession()
        let services = Array(repeating: Wire.bytes(6, Wire.text(1, "S")), count: 10_000).flatMap { $0 }
        let file = Wire.text(1, "f") + Wire.text(2, String(repeating: "p", count: 1 << 20)) + services
        #expect(throws: ReflectionError.longNames) {
            try run(&session, Self.services("p.S"), Wire.bytes(4, Wire.bytes(1, file)))
        }
    }

    @Test func `more definitions than memory is meant for are an error`() throws {
        func cost(_ bytes: [UInt8]) throws(ReflectionError) -> [Int] {
            var cost = DescriptorCost()
            try cost.add(bytes.span)
            return [cost.definitions, cost.names]
        }
        let schema = Schema("a", package: "p").message("M", [Schema.field("id", 1, .string)])
        // The file, p.M, p.M.id; p.E, p.E.A; p.S, p.S.Do: each with a byte behind its name.
        #expect(try cost(schema.bytes) == [3, 2 + 4 + 7])
        let all = schema.enumeration("E", [("A", 0)]).service("S", "Do", "p.M", "p.M")
        #expect(try cost(all.bytes) == [7, 13 + 4 + 6 + 4 + 7])
        let message = Wire.bytes(4, Wire.text(1, "M"))
        let many = Array(repeating: message, count: 199_999).flatMap { $0 }
        #expect(try cost(many).first == 200_000)
        #expect(throws: ReflectionError.tooManyDefinitions) { try cost(many + message) }
        // Each has the name that all of them stand in.
        let outer = Wire.bytes(4, Wire.text(1, String(repeating: "n", count: 1 << 20)) + many.prefix(6 * 100))
        #expect(throws: ReflectionError.longNames) { try cost(outer) }
        #expect(throws: ReflectionError.malformed) { try cost(Wire.bytes(4, [0x0a])) }
        // Relative names are looked up in each scope around them; full ones are not.
        let package = Wire.text(2, Array(repeating: "a", count: 3000).joined(separator: "."))
        func field(_ type: String) -> [UInt8] { Wire.bytes(4, Wire.bytes(2, Wire.text(6, type))) }
        #expect(throws: ReflectionError.longNames) {
            try cost(package + Array(repeating: field("Top"), count: 100).flatMap { $0 })
        }
        #expect(try cost(package + Array(repeating: field(".Top"), count: 100).flatMap { $0 }).first == 201)
        // Each extension is compared with each range for extensions.
        let ranges = Array(repeating: Wire.bytes(5, []), count: 50_000).flatMap { $0 }
        let extensions = Array(repeating: Wire.bytes(7, []), count: 50_000).flatMap { $0 }
        #expect(try cost(Wire.bytes(4, ranges)).first == 50_002)
        #expect(throws: ReflectionError.tooManyExtensions) { try cost(Wire.bytes(4, ranges) + extensions) }
        var deep: [UInt8] = []
        for _ in 0..<1000 { deep = Wire.bytes(3, deep) }
        #expect(try cost(Wire.bytes(4, deep)).first == 1002)
    }

    @Test func `an import that many files name is asked for once`() throws {
        var session = ReflectionSession()
        let requests = try run(
            &session,
            Self.services("p.A"),
            Self.files(Self.file("a", service: "A", imports: ["x", "x"]), Self.file("b", imports: ["x"]))
        )
        #expect(requests == [Self.list, Self.symbol("p.A"), Self.byName("x")])
    }

    @Test func `random changes of a conversation end it or do nothing`() {
        let valid = [
            Self.services("p.A", "p.B"), Self.files(Self.file("a", service: "A", imports: ["c"])), Self.error(5, "x"),
            Self.files(Self.file("c")),
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            var session = ReflectionSession()
            do throws(ReflectionError) {
                for var response in valid {
                    for _ in 0..<Int.random(in: 0...2, using: &generator) {
                        let index = Int.random(in: 0..<response.count, using: &generator)
                        response[index] = UInt8.random(in: 0...255, using: &generator)
                    }
                    _ = try run(&session, response)
                }
                _ = try session.result()
            } catch {
                #expect(!error.text.isEmpty)
            }
        }
    }
}
