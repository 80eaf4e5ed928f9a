import Bytes
import Testing
import TimeKit

@testable import Patterns

@Suite struct PatternTests {
    init() { _ = limitHits() }

    @Test func `a pattern is found anywhere, unless it says where`() throws {
        #expect(try Pattern("b+").matches("abbc"))
        #expect(try !Pattern("^b+").matches("abbc"))
        #expect(try Pattern("^a.*c$").matches("abbc"))
        #expect(try !Pattern("B").matches("abbc"))
        #expect(try Pattern("(?i)B").matches("abbc"))
    }

    @Test func `no bytes are matched by what may be empty`() throws {
        #expect(try Pattern("").matches(""))
        #expect(try Pattern("^$").matches(""))
        #expect(try !Pattern(".").matches(""))
    }

    @Test func `bytes that are not UTF-8 are matched like any others`() throws {
        let subject: [UInt8] = [0x61, 0xff, 0x00, 0x62]
        #expect(try Pattern("^a\\xff\\x00b$").matches(subject.span))
        #expect(try Pattern("^a..b$").matches(subject.span))
    }

    @Test func `a wrong pattern is reported with its place, in the words of PCRE2`() {
        let error = #expect(throws: PatternError.self) { try Pattern("ab(c") }
        #expect(error == PatternError(offset: 4, message: "missing closing parenthesis"))
        #expect(error?.description == "missing closing parenthesis (at offset 4)")
    }

    @Test func `threads match with one pattern at the same time`() async throws {
        let pattern = try Pattern("^(a+)(b+)$")
        let replacement = try Replacement("$2$1", for: pattern)
        await withTaskGroup { group in
            for number in 1...8 {
                group.addTask {
                    let (first, second) = (
                        String(repeating: "a", count: number), String(repeating: "b", count: 9 - number)
                    )
                    for _ in 0..<1000 {
                        let queue = ByteQueue()
                        #expect(pattern.replaceAll(in: first + second, with: replacement, into: queue))
                        #expect(queue.readable.string == second + first)
                    }
                }
            }
        }
    }

    @Test func `a pattern may have many groups`() throws {
        let pattern = try Pattern(String(repeating: "(a)", count: 200) + "(b)")
        let queue = ByteQueue()
        let subject = String(repeating: "a", count: 200) + "b"
        #expect(pattern.replaceAll(in: subject, with: try Replacement("$201", for: pattern), into: queue))
        #expect(queue.readable.string == "b")
    }

    @Test func `patterns that explode are given up and reported`() throws {
        let subject = String(repeating: "a", count: 5000) + "!"
        for text in ["(a+)+$", "(a|aa)+$", "(.*)*x$", "^(a?){50}a{50}b"] {
            let pattern = try Pattern(text)
            #expect(!pattern.matches(subject))
            #expect(limitHits() <= 1)
        }
        let pattern = try Pattern("(a+)+$")
        #expect(!pattern.matches(subject))
        #expect(limitHits() == 1)
        #expect(pattern.matches("aaa"))
        #expect(limitHits() == 0)
    }

    @Test(arguments: ["", "(*NO_JIT)"])
    func `a pattern that is slow from every starting point is given up`(option: String) throws {
        let pattern = try Pattern(option + "(?:a{1,140}){2}[bc]")
        let time = ProcessorTime.measure {
            #expect(!pattern.matches(String(repeating: "a", count: Pattern.maxSubject)))
        }
        #expect(limitHits() == 1)
        #expect(time < .seconds(5))
    }

    @Test func `many slow matches in one subject are given up together, and the rest stays as it is`() throws {
        let pattern = try Pattern("(?:a{1,140}){2}[bc]|x")
        let subject = String(repeating: String(repeating: "a", count: 500) + "x", count: 16)
        let queue = ByteQueue()
        let replacement = try Replacement("y", for: pattern)
        let time = ProcessorTime.measure {
            _ = pattern.replaceAll(in: Array(subject.utf8).span, with: replacement, into: queue)
        }
        #expect(limitHits() == 1)
        #expect(queue.readable.count == subject.utf8.count)
        #expect(time < .seconds(5))
    }

    @Test(arguments: ["", "(*NO_JIT)"])
    func `a match is found however far into the subject`(option: String) throws {
        let pattern = try Pattern(option + "(?<=a)b")
        for count in [1, 4, 5, 1023, 1024, 1025, 5000] {
            #expect(pattern.matches(String(repeating: "a", count: count) + "b"))
            #expect(!pattern.matches(String(repeating: "a", count: count)))
        }
        #expect(limitHits() == 0)
        #expect(try replace(option + "b", "", in: String(repeating: "a", count: 3000) + "bab")?.count == 3001)
    }

    @Test func `a group repeated over a long value needs no more stack than there is`() throws {
        let pattern = try Pattern("^(?:a|b)*c$")
        #expect(pattern.matches(String(repeating: "ab", count: 2000) + "c"))
        #expect(limitHits() == 0)
    }

    @Test func `a subject beyond the limit does not match and is reported`() throws {
        let pattern = try Pattern("^a+$")
        #expect(pattern.matches(String(repeating: "a", count: Pattern.maxSubject)))
        #expect(!pattern.matches(String(repeating: "a", count: Pattern.maxSubject + 1)))
        #expect(limitHits() == 1)
    }

    @Test func `every match is replaced, with its groups`() throws {
        #expect(
            try replace("(\\w+)@(\\w+)", "$2 at ${1}0, $$1, $0", in: "a@b c@d") == "b at a0, $1, a@b d at c0, $1, c@d"
        )
        #expect(try replace("b", "", in: "abcb") == "ac")
        #expect(try replace("x", "y", in: "abc") == nil)
        #expect(try replace("(a)|(b)", "<$1$2>", in: "ab") == "<a><b>")
    }

    @Test func `empty matches are replaced once in each place`() throws {
        #expect(try replace("x*", "-", in: "abc") == "-a-b-c-")
        #expect(try replace("b*", "-", in: "abc") == "-a--c-")
        #expect(try replace("$", "!", in: "abc") == "abc!")
        #expect(try replace("", "-", in: "") == "-")
        #expect(try replace("a\\K", "-", in: "aab") == "a-a-b")
    }

    @Test func `groups of another pattern are empty`() throws {
        let pattern = try Pattern("a")
        let foreign = try Replacement("<$2>", for: Pattern("(a)(b)"))
        let queue = ByteQueue()
        #expect(pattern.replaceAll(in: "a", with: foreign, into: queue))
        #expect(queue.readable.string == "<>")
    }

    @Test func `nothing is appended where nothing matches`() throws {
        let pattern = try Pattern("a")
        let queue = ByteQueue()
        let replacement = try Replacement("o", for: pattern)
        #expect(pattern.replaceAll(in: "banana", with: replacement, into: queue))
        #expect(queue.readable.string == "bonono")
        #expect(!pattern.replaceAll(in: "b", with: replacement, into: queue))
        #expect(queue.readable.string == "bonono")
    }

    @Test func `a replacement that cannot be is rejected when it is read`() throws {
        let pattern = try Pattern("(a)(b)")
        let wrong = [
            "$3": "the pattern has no group 3", "x${10}": "the pattern has no group 10",
            "$": "$ must be followed by a number, a {number} or another $",
            "$x": "$ must be followed by a number, a {number} or another $",
            "${1": "$ must be followed by a number, a {number} or another $",
            "${}": "$ must be followed by a number, a {number} or another $",
            "$99999999999999999999": "$ must be followed by a number, a {number} or another $",
        ]
        for (text, message) in wrong {
            let error = #expect(throws: PatternError.self) { try Replacement(text, for: pattern) }
            #expect(error == PatternError(offset: text.hasPrefix("x") ? 1 : 0, message: message))
        }
    }
}

extension PatternTests {
    /// How many subjects this thread has given up since this was asked last.
    func limitHits() -> Int {
        defer { PatternMemory.ofThread.limitHits = 0 }
        return PatternMemory.ofThread.limitHits
    }

    func replace(_ pattern: String, _ replacement: String, in subject: String) throws -> String? {
        let pattern = try Pattern(pattern)
        let queue = ByteQueue()
        let replacement = try Replacement(replacement, for: pattern)
        guard pattern.replaceAll(in: Array(subject.utf8).span, with: replacement, into: queue) else { return nil }
        return queue.readable.string
    }
}

extension Pattern {
    fileprivate func matches(_ text: String) -> Bool { matches(Array(text.utf8).span) }

    fileprivate func replaceAll(in text: String, with replacement: Replacement, into queue: ByteQueue) -> Bool {
        replaceAll(in: Array(text.utf8).span, with: replacement, into: queue)
    }
}
