internal import Proxy

/// The programs for which there is a line that repeats a request.
enum ShellTool: String, CaseIterable {
    case curl, grpcurl, buf

    /// Why a program cannot send a request, for people.
    struct Unsuitable: Error {
        let text: String
    }

    /// The line that sends a request again.
    func line(for request: RequestCopy) throws(Unsuitable) -> String {
        switch self {
        case .curl: Curl(request).text
        case .grpcurl: try RPCTool.grpcurl(request)
        case .buf: try RPCTool.buf(request)
        }
    }
}

extension RequestCopy {
    /// A header as `name: value`; the name and `ifEmpty` if it is empty.
    static func word(_ field: Field, ifEmpty: String = ":") -> ShellWord {
        var word = ShellWord()
        let name = String(decoding: field.name, as: UTF8.self)
        guard let value = field.value else {
            word.append("\(name): ")
            word.append(secret: name)
            return word
        }
        word.append(value.isEmpty ? Array("\(name)\(ifEmpty)".utf8) : Array("\(name): ".utf8) + value)
        return word
    }

    /// The scheme, and the host that the request is sent to.
    var origin: String {
        let scheme = tls == nil ? "http" : "https"
        switch place {
        case .tcp(let address): return "\(scheme)://\(address)"
        case .unix: return "\(scheme)://localhost"
        }
    }

    /// The authority of `origin`.
    var ownAuthority: String {
        switch place {
        case .tcp(let address): address
        case .unix: "localhost"
        }
    }

    /// The path and the query, with variables for the values that are not shown.
    func targetWord(after start: String) -> ShellWord {
        var word = ShellWord()
        let mask = "=\(Redactions.mask)"
        var rest = (start + String(decoding: target, as: UTF8.self))[...]
        while let range = rest.firstRange(of: mask) {
            let name = rest[..<range.lowerBound].suffix { !"?&;#".contains($0) }
            word.append("\(rest[..<range.lowerBound])=")
            word.append(secret: String(name))
            rest = rest[range.upperBound...]
        }
        if !rest.isEmpty { word.append(String(rest)) }
        return word
    }
}

extension Substring {
    fileprivate func suffix(while isMember: (Character) -> Bool) -> Substring {
        var start = endIndex
        while start > startIndex, isMember(self[index(before: start)]) { start = index(before: start) }
        return self[start...]
    }
}
