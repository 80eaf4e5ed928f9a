import Bytes
import Glibc
import Testing
import Types

@Suite struct TypeSetTests {
    static let base = Schema("base.proto", package: "base").message("Base", [Schema.field("id", 1, .string)])
    static let shop = Schema("shop.proto", package: "shop.v1", imports: ["base.proto"])
        .message("Order", [Schema.field("base", 1, .message, type: "base.Base")])
        .service("Orders", "Watch", "base.Base", "shop.v1.Order")

    private static let howTo = "make it with protoc --include_imports --descriptor_set_out"

    @Test(arguments: [[base, shop], [shop, base]])
    func `the files of a set may be in any order`(_ files: [Schema]) throws {
        let types = try TypeSet([Schema.set(files)])
        #expect(types.services.map(\.name) == ["shop.v1.Orders"])
        let method = try #require(types.services.first?.methods.first)
        #expect(method.name == "Watch" && method.request.name == "base.Base" && method.response.name == "shop.v1.Order")
        #expect(method.responseStreams && !method.requestStreams)
    }

    @Test func `a method is found by the path of its requests`() throws {
        let types = try TypeSet([Schema.set([Self.base, Self.shop])])
        #expect(found("/shop.v1.Orders/Watch", in: types) == "Watch")
        for path in ["", "/", "/shop.v1.Orders/Watc", "/shop.v1.Orders/Watch/", "shop.v1.Orders/Watch", "/z/Watch"] {
            #expect(found(path, in: types) == nil)
        }
    }

    private func found(_ path: String, in types: TypeSet) -> String? {
        let bytes = Array(path.utf8)
        return types.method(path: bytes.span)?.name
    }

    @Test func `large numbers of an enumeration take no more memory than small ones`() throws {
        let numbers: [UInt64] = [0] + (60_000_000..<60_006_600) + [.max]
        let values = numbers.map { ("V\($0)", $0) }
        let before = residentBytes
        let types = try TypeSet([Schema.set([Schema("e.proto", package: "e").enumeration("E", values)])])
        #expect(residentBytes - before < 200 << 20)
        #expect(types.message(named: "e.E") == nil)
    }

    /// The most bytes that the process has had resident.
    private var residentBytes: Int {
        var usage = rusage()
        unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage.ru_maxrss << 10
    }

    @Test(arguments: [[9, 2], [2, 1], [1, 3]])
    func `the entries of a map have the numbers that are read`(_ numbers: [UInt64]) {
        let value = Schema.field("value", numbers[1], .message, type: "m.M")
        let entry = [Schema.field("key", numbers[0], .string), value]
        let problems = problems([Schema.set([Schema("m.proto", package: "m").map("M", entry)])])
        let problem = "the entries of the map m.M.MapEntry do not have the fields key = 1 and value = 2"
        #expect(problems == ["set.binpb: \(problem)"])
    }

    @Test func `files that several sets have count once`() throws {
        let types = try TypeSet([Schema.set([Self.base]), Schema.set([Self.base, Self.shop], source: "b")])
        #expect(types.message(named: "shop.v1.Order") != nil && types.message(named: "base.Base") != nil)
        #expect(types.message(named: "shop.v1.Nothing") == nil)
    }

    @Test func `files with one name say the same`() {
        let other = Schema("base.proto", package: "base").message("Base", [Schema.field("id", 2, .string)])
        let problems = problems([Schema.set([Self.base]), Schema.set([other], source: "b")])
        #expect(problems == ["b: base.proto is not the same as in set.binpb; use sets of one version of it"])
    }

    @Test func `every fault of every set is told`() {
        let sets = [
            DescriptorSet(source: "a", bytes: Array("listen: 1".utf8)), DescriptorSet(source: "b", bytes: []),
            Schema.set([Self.shop], source: "c"),
            Schema.set([Schema("own.proto", package: "own", imports: ["own.proto"])], source: "d"),
        ]
        #expect(
            problems(sets) == [
                "a: not a FileDescriptorSet; \(Self.howTo)", "b: not a FileDescriptorSet; \(Self.howTo)",
                "c: shop.proto imports base.proto, which is in none of the sets; \(Self.howTo)",
                "d: own.proto imports own.proto, which imports it in turn",
            ]
        )
    }

    @Test func `files that import each other are an error`() {
        let files = [
            Schema("a.proto", package: "a", imports: ["b.proto"]),
            Schema("b.proto", package: "b", imports: ["a.proto"]),
        ]
        #expect(problems([Schema.set(files)]) == ["set.binpb: b.proto imports a.proto, which imports it in turn"])
    }

    @Test func `what upb rejects is told in its words`() {
        let unknown = Schema("x.proto", package: "x").message("X", [Schema.field("a", 1, .message, type: "x.Gone")])
        let problems = problems([Schema.set([unknown])])
        #expect(problems.count == 1 && problems[0].hasPrefix("set.binpb: x.proto: "), "\(problems)")
    }

    @Test func `a long chain of imports takes no stack`() throws {
        let files = (0..<5000).reversed().map { index in
            Schema("\(index)", package: "p\(index)", imports: index == 0 ? [] : ["\(index - 1)"])
                .message("M", [Schema.field("a", 1, .string)])
        }
        let types = try TypeSet([Schema.set(files)])
        #expect(types.message(named: "p4999.M") != nil)
    }

    private func problems(_ sets: [DescriptorSet]) -> [String] {
        do {
            _ = try TypeSet(sets)
            return []
        } catch {
            return error.problems.map { "\($0.source): \($0.text)" }
        }
    }
}
