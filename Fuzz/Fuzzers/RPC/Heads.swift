internal import Bytes
internal import Protocols
internal import RPC

/// What the head of a call tells: lines `method`, `content-type`, `target`; a fourth one says `1` or nothing.
enum Heads {
    static func run(_ input: Span<UInt8>) {
        let lines = input.array.split(separator: 0x0a, maxSplits: 3, omittingEmptySubsequences: false).map(Array.init)
        let line = { (index: Int) -> [UInt8] in index < lines.count ? lines[index] : [] }
        let (method, type, target) = (line(0), line(1), line(2))
        let mark = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        let path = Array(target[..<mark])
        let query = Array(target[min(mark + 1, target.count)...])
        let isVersion1 = line(3) == [UInt8(ascii: "1")]
        let read = { (type: [UInt8]?, count: Int) in
            Classification(
                method: method.span,
                contentType: type?.span,
                contentTypeCount: count,
                isConnectVersion1: isVersion1,
                path: path.span,
                query: query.span
            )
        }
        let call = read(lines.count > 1 ? type : nil, lines.count > 1 ? 1 : 0)
        checkProcedure(call.procedure, path)
        let shouted = read(type.map(changedCase), 1).rpcProtocol
        demandSame(shouted, read(type, 1).rpcProtocol, "case does not matter in a content type")
        let several = read(type, 2).rpcProtocol
        demand(several == .http, "several content types are none: \(several)")
        let procedure = Procedure(path: path.span, in: call.rpcProtocol)
        demand(procedure == call.procedure, "the same path tells the same")
        let error = call.error(compression: .unknown, query: query.span)
        let isAsked = call.rpcProtocol != .http && call.rpcProtocol != .connectGet
        demand(!isAsked || error != nil, "an unknown compression is a fault")
        checkQuery(query)
        checkResponses(call, type, input)
    }

    private static func changedCase(_ byte: UInt8) -> UInt8 {
        let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 26
        return isLetter ? byte ^ 0x20 : byte
    }

    private static func checkProcedure(_ procedure: Procedure?, _ path: [UInt8]) {
        guard let procedure else { return }
        let gap = procedure.method.lowerBound - procedure.service.upperBound
        demand(gap == 1, "a slash is between service and method")
        demand(procedure.method.upperBound == path.count, "the path ends with the method")
        demand(!procedure.service.isEmpty && !procedure.method.isEmpty, "service and method have names")
        let service = path[procedure.service]
        demand(!service.contains(UInt8(ascii: "/")), "a service has no slash")
        demandSame(procedure.isQualified, service.contains(UInt8(ascii: ".")), "a qualified name has a dot")
    }

    private static func checkQuery(_ query: [UInt8]) {
        guard let read = ConnectQuery(query.span) else { return }
        demand(0...query.count ~= read.messageSize, "a message is no longer than its query")
        let parameters = form(query)
        let version = parameters.first { $0.name == Array("connect".utf8) }
        demandSame(version.map { PercentEncoding.decode($0.value.span) }, Array("v1".utf8), "the query is Connect's")
        guard let message = try? read.message(in: query.span) else { return }
        let given = parameters.filter { $0.name == Array("message".utf8) }
        demand(given.count < 2, "a message that is read is the only one")
        let isBase64 = parameters.contains {
            $0.name == Array("base64".utf8) && PercentEncoding.decode($0.value.span) == Array("1".utf8)
        }
        let written = given.first?.value ?? []
        let spaced = written.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        let reported = PercentEncoding.decode(spaced.span)
        demandSame(message, isBase64 ? Base64.decode(reported.span) : reported, "the message is what a form would say")
        demandSame(message.count, read.messageSize, "the size of a message is known before it is read")
    }

    /// The parameters of a query, the names without escapes, the values as they are.
    private static func form(_ query: [UInt8]) -> [(name: [UInt8], value: [UInt8])] {
        query.split(separator: UInt8(ascii: "&")).map { parameter in
            let halves = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (PercentEncoding.decode(Array(halves[0]).span), halves.count > 1 ? Array(halves[1]) : [])
        }
    }

    /// Any error can be told in any protocol, and is understood again.
    private static func checkResponses(_ call: Classification, _ type: [UInt8], _ input: Span<UInt8>) {
        let error = RPCError(.dataLoss, input.string)
        for rpcProtocol in RPCProtocol.allCases where rpcProtocol != .http {
            let response = rpcProtocol.callerSide.response(to: error, requestContentType: type.span)
            var reader = ResponseReader(rpcProtocol: rpcProtocol, codec: .json)
            let value = { (name: String) in response.headers.first { $0.name == Array(name.utf8) }?.value }
            let good: StaticString =
                switch rpcProtocol {
                case .connectStream: "application/connect+json"
                case .grpc: "application/grpc+json"
                case .grpcWeb: "application/grpc-web+json"
                case .grpcWebText: "application/grpc-web-text+json"
                default: "application/json"
                }
            let type = Array(good.description.utf8)
            let status = value("grpc-status")
            let message = value("grpc-message") ?? []
            reader.head(
                status: response.status,
                contentType: type.span,
                compression: .identity,
                grpcStatus: status?.span,
                grpcMessage: message.span
            )
            Cuts.some.apply(to: response.body.span) { reader.body($0) }
            let reported = Reported(reader.end())
            demandSame(reported.code, error.code, "an error in \(rpcProtocol.name) tells its code")
            // Only 64 KiB of an end are kept.
            guard response.body.count < 60_000 else { continue }
            demandSame(reported.message, error.message, "an error in \(rpcProtocol.name) tells its message")
        }
    }
}
