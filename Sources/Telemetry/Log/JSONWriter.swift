public import Bytes
internal import RPC
public import Time

/// Writes one JSON object straight into a queue.
///
/// Fields come in the order in which they are added; `end` closes the object. Belongs to the thread of its queue, which
/// nobody else may touch before `end`. Allocates nothing where the queue has a pool and the text is ASCII.
public struct JSONWriter {
    private let queue: ByteQueue
    private var needsComma = false

    /// Begins an object in `queue`.
    public init(to queue: ByteQueue) {
        self.queue = queue
        queue.append("{")
    }

    /// Adds a field of text, escaped.
    public mutating func field(_ name: StaticString, text: Span<UInt8>) {
        begin(name)
        queue.append(json: text)
    }

    /// Adds a field of text, escaped, whose name comes from elsewhere.
    public mutating func field(named name: Span<UInt8>, text: Span<UInt8>) {
        begin(name)
        queue.append(json: text)
    }

    /// Adds a field of text of our own, which needs no escapes, whose name comes from elsewhere.
    public mutating func field(named name: Span<UInt8>, text: StaticString) {
        begin(name)
        queue.append("\"")
        queue.append(text)
        queue.append("\"")
    }

    /// Adds a field of text, escaped.
    public mutating func field(_ name: StaticString, string text: String) {
        begin(name)
        queue.append(json: text)
    }

    /// Adds a field of text of our own, which needs no escapes.
    public mutating func field(_ name: StaticString, text: StaticString) {
        begin(name)
        queue.append("\"")
        queue.append(text)
        queue.append("\"")
    }

    /// Adds a field of bytes, in base64.
    public mutating func field(_ name: StaticString, base64 bytes: Span<UInt8>) {
        begin(name)
        queue.append("\"")
        queue.append(base64: bytes, padded: true)
        queue.append("\"")
    }

    /// Adds a field that is true or false.
    public mutating func field(_ name: StaticString, _ value: Bool) {
        begin(name)
        queue.append(value ? "true" : "false")
    }

    /// Adds a field of a whole number.
    public mutating func field(_ name: StaticString, number: Int) {
        begin(name)
        queue.append(decimal: number)
    }

    /// Adds a field of a length of time: milliseconds with three decimals.
    public mutating func field(_ name: StaticString, milliseconds duration: Duration) {
        begin(name)
        queue.append(milliseconds: duration)
    }

    /// Adds a field of a number with three decimals.
    public mutating func field(_ name: StaticString, thousandths: Int) {
        begin(name)
        queue.append(decimal: thousandths / 1000)
        queue.append(byte: UInt8(ascii: "."))
        queue.append(padded: thousandths % 1000, digits: 3)
    }

    /// Adds a field that is a time of day.
    public mutating func field(_ name: StaticString, time: WallTime, formatter: TimestampFormatter) {
        begin(name)
        queue.append("\"")
        formatter.append(time, to: queue)
        queue.append("\"")
    }

    /// Adds a field whose value `write` appends to the queue, as JSON.
    public mutating func field(_ name: StaticString, _ write: (ByteQueue) -> Void) {
        begin(name)
        write(queue)
    }

    /// Adds a field that has no value.
    public mutating func null(_ name: StaticString) {
        begin(name)
        queue.append("null")
    }

    /// Begins a field that is an object; the fields added until `endObject` are in it.
    public mutating func beginObject(_ name: StaticString) {
        begin(name)
        queue.append("{")
        needsComma = false
    }

    /// Ends the object begun last.
    public mutating func endObject() {
        queue.append("}")
        needsComma = true
    }

    /// Begins a field that is an array; `beginItem` begins an object in it, and `item` adds one that is written already.
    public mutating func beginArray(_ name: StaticString) {
        begin(name)
        queue.append("[")
        needsComma = false
    }

    /// Begins an object of the array begun last; `endObject` ends it.
    public mutating func beginItem(onNewLine: Bool = false) {
        beginValue(onNewLine: onNewLine)
        queue.append("{")
        needsComma = false
    }

    /// Adds a value to the array begun last that is JSON already.
    public mutating func item(json: Span<UInt8>, onNewLine: Bool = false) {
        beginValue(onNewLine: onNewLine)
        queue.append(json)
        needsComma = true
    }

    /// Ends the array begun last.
    public mutating func endArray() {
        queue.append("]")
        needsComma = true
    }

    /// Adds a field that is an array of texts, escaped.
    public mutating func field(_ name: StaticString, texts: [[UInt8]]) {
        begin(name)
        queue.append("[")
        for (index, text) in texts.enumerated() {
            if index > 0 { queue.append(",") }
            queue.append(json: text.span)
        }
        queue.append("]")
    }

    /// Ends the object, and the line.
    public consuming func end() {
        queue.append("}\n")
    }

    private func beginValue(onNewLine: Bool) {
        if needsComma { queue.append(",") }
        if onNewLine { queue.append("\n") }
    }

    private mutating func begin(_ name: Span<UInt8>) {
        if needsComma { queue.append(",") }
        needsComma = true
        queue.append(json: name)
        queue.append(":")
    }

    private mutating func begin(_ name: StaticString) {
        queue.append(needsComma ? ",\"" : "\"")
        needsComma = true
        queue.append(name)
        queue.append("\":")
    }
}
