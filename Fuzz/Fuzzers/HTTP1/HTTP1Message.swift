/// One message of HTTP/1 as a parser reads it.
struct HTTP1Message: Equatable {
    /// One field; text for people who look at a difference, a character for each byte.
    struct Field: Equatable {
        var name: String
        var value: String
    }

    var method = ""
    var target = ""
    var authority = ""
    var status = 0
    var reason = ""
    var fields: [Field] = []
    var length: Int?
    var body = ""
    var trailers: [Field] = []
    /// Whether it has come to its end.
    var isWhole = false
    /// Whether the connection can be used for another behind it; only known at the end.
    var persists = false

    /// What came until the end of the head.
    var head: HTTP1Message {
        var head = self
        head.body = ""
        head.trailers = []
        head.isWhole = false
        head.persists = false
        return head
    }
}

/// What a parser makes of some bytes.
struct HTTP1Reading: Equatable {
    var messages: [HTTP1Message] = []
    /// Whether something was wrong with what follows the messages, or with the last of them.
    var isRejected = false
}

extension String {
    /// One character for each byte.
    init(latin1 bytes: some Sequence<UInt8>) {
        self.init(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    /// The text with its ASCII capitals made small, and all else as it is.
    var smallASCII: String {
        let small = unicodeScalars.map { "A"..."Z" ~= $0 ? Unicode.Scalar(UInt8($0.value) + 32) : $0 }
        return String(String.UnicodeScalarView(small))
    }

    /// The text without spaces and tabs at its ends.
    var withoutBlanks: String {
        var rest = Substring(self).unicodeScalars
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        return String(rest)
    }
}
