internal import Bytes
internal import Configuration
internal import Telemetry
internal import Time

/// Test results in the forms that other programs read.
enum TestReport {
    /// A result as a line of JSON.
    static func json(_ result: TestResult) -> [UInt8] {
        let queue = ByteQueue()
        var json = JSONWriter(to: queue)
        json.field("file", string: result.file)
        json.field("name", string: result.name)
        json.field("line", number: result.mark.line)
        json.field("passed", result.hasPassed)
        json.field("ms", milliseconds: result.took)
        json.beginArray("failures")
        for failure in result.failures {
            json.beginItem()
            json.field("place", string: failure.place)
            json.field("expected", string: failure.expected)
            json.field("seen", string: failure.seen)
            json.endObject()
        }
        json.endArray()
        json.field("missing", texts: result.missing.map { Array($0.utf8) })
        json.end()
        return queue.readable.array
    }

    /// The results as JUnit's XML, a suite for each file.
    static func junit(_ results: [TestResult]) -> String {
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites>"]
        var files: [String] = []
        for result in results where !files.contains(result.file) { files.append(result.file) }
        for file in files {
            let own = results.filter { $0.file == file }
            let failed = own.count { !$0.hasPassed }
            lines.append("  <testsuite name=\"\(escaped(file))\" tests=\"\(own.count)\" failures=\"\(failed)\">")
            for result in own {
                let head = "<testcase classname=\"\(escaped(file))\" name=\"\(escaped(result.name))\""
                let start = "    \(head) time=\"\(seconds(result.took))\""
                guard !result.hasPassed else {
                    lines.append("\(start)/>")
                    continue
                }
                let text = result.lines.dropFirst().map { escaped($0) }.joined(separator: "\n")
                let first = result.failures.first.map(\.place) ?? result.missing.first ?? ""
                lines.append("\(start)>")
                lines.append("      <failure message=\"\(escaped(first))\">\(text)</failure>")
                lines.append("    </testcase>")
            }
            lines.append("  </testsuite>")
        }
        return (lines + ["</testsuites>"]).joined(separator: "\n") + "\n"
    }

    private static func seconds(_ time: Duration) -> String {
        let microseconds = Int(time.nanoseconds / 1000)
        let fraction = "\(microseconds % 1_000_000)"
        return "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// A text as XML can have it, without control characters.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n", "\t": result.unicodeScalars.append(scalar)
            default: if scalar.value >= 0x20 { result.unicodeScalars.append(scalar) }
            }
        }
    }
}
