internal import Bytes
internal import Configuration
internal import Documents

/// JSON that is read is the same when it is written and read again; pointers find what they put there.
enum Documents {
    static func run(_ input: Span<UInt8>) {
        // The first line is a pointer, what follows is JSON.
        let line = input.firstIndex(of: 0x0a) ?? 0
        let text = line < input.count && line > 0 ? input.extracting((line + 1)...) : input
        let value: JSONValue
        do throws(JSONError) {
            value = try JSON.parse(text)
        } catch {
            demand(error.line >= 1 && error.column >= 1, "an error has a place")
            return
        }
        let written = value.bytes
        guard let again = try? JSON.parse(written) else { fail("written JSON is JSON: \(written)") }
        demandSame(again, value, "JSON there and back")
        demandSame(again.bytes, written, "JSON is written the same each time")
        checkPointer(input.extracting(0..<line).string, in: value)
    }

    private static func checkPointer(_ text: String, in value: JSONValue) {
        guard let pointer = JSONPointer(text) else { return }
        let mark = JSONValue.string("the one that was put there")
        var changed = value
        changed.replace(pointer, by: mark)
        if value.value(at: pointer) == nil {
            // A `*` stands for every item and every member.
            if !pointer.tokens.contains("*") { demandSame(changed, value, "nothing is put where nothing is") }
        } else {
            demandSame(changed.value(at: pointer), mark, "a pointer finds what it has put there")
        }
    }
}
