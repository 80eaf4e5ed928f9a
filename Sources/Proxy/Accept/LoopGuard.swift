internal import Bytes
internal import HTTP

/// Finds requests that come back: an upstream leads to Martlet itself, be it directly or through others.
///
/// A loop has ever more calls under way, each in the place of the one before. So ordinary calls pay for one comparison:
/// heads are looked at only while many calls are under way, and of these one in sixteen is marked. What comes back with
/// a mark gets another each time, until there are too many. The mark goes through other proxies, over any version of HTTP.
enum LoopGuard {
    /// While a worker has no more calls under way, none is looked at.
    static let few = 16
    /// How often a request may come back: somebody may mean one listener to call another.
    static let maxReturns = 8

    /// The field of RFC 8586, which proxies pass on.
    private static let field = FieldName("cdn-loop")
    /// What this process is known by; chance keeps it apart from all others.
    private static let mark: [UInt8] = {
        let queue = ByteQueue()
        var random = SystemRandomNumberGenerator()
        queue.append("martlet-")
        queue.append(paddedHexadecimal: random.next())
        return queue.readable.array
    }()

    /// Whether a request has come back too often; else the head that goes upstream is marked, if it has come back, or if
    /// `isSample` says so.
    ///
    /// Not on the way of ordinary calls: to be asked only while more than `few` calls are under way.
    static func findsLoop(in request: HTTPHead, isSample: Bool) -> Bool {
        var returns = 0
        var next = request.first(field)
        while let index = next {
            // A proxy on the way may have joined several fields to a list.
            returns += request.value(at: index).count(of: mark)
            next = request.first(field, from: index + 1)
        }
        guard returns < maxReturns else { return true }
        let mark = mark
        if returns > 0 || isSample { request.add(field, mark.span) }
        return false
    }
}

extension Span<UInt8> {
    /// How often `text`, which is not empty, stands in the bytes.
    fileprivate func count(of text: [UInt8]) -> Int {
        var (found, start) = (0, 0)
        while let index = firstIndex(of: text[0], from: start), index + text.count <= count {
            let isFound = extracting(index..<index + text.count).equals(text)
            if isFound { found += 1 }
            start = index + (isFound ? text.count : 1)
        }
        return found
    }
}
