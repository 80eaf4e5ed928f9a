internal import Bytes
internal import Compressors
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// The messages of a call, where somebody in its chain asks for them: made out of bodies, and bodies of them again.
extension Call {
    func makeReader(
        _ direction: Direction,
        needsMessages: Bool,
        from start: EnvelopeScanner = EnvelopeScanner(),
        hasEnded: Bool = false
    ) -> MessageReader {
        MessageReader(
            direction == .request ? rpcProtocol : responseProtocol,
            direction,
            needsMessages: needsMessages,
            messageLimit: direction == .response ? responseLimit : callerLeg.listener.heldMessageLimit,
            held: ByteQueue(pool: worker.context.buffers),
            from: start,
            hasEnded: hasEnded
        )
    }

    /// What the body of the response is written in: a caller with text may be answered in binary.
    var responseProtocol: RPCProtocol {
        response.isOwn ? rpcProtocol : response.reader.bodyProtocol
    }

    /// The most bytes of the response that are held as one: those of our own are in memory anyway.
    var responseLimit: Int { response.isOwn ? .max : callerLeg.listener.heldMessageLimit }

    // MARK: Into the chain

    /// A message has come whole; `payload` is as it was sent.
    func messageCame(_ flags: UInt8, _ payload: Span<UInt8>, _ direction: Direction) {
        let isCompressed = flags & Envelope.compressed != 0
        var decompressed = isCompressed ? worker.acquireQueue() : nil
        var packing: Packing?
        if let queue = decompressed {
            do throws(RPCError) {
                packing = try decompressSmall(payload, direction, into: queue)
            } catch {
                worker.release(queue)
                return failBody(error, direction)
            }
            if packing != nil {
                worker.release(queue)
                decompressed = nil
            }
        }
        let message = makeMessage(direction)
        message.begin(
            message.number + 1,
            isCompressed: isCompressed,
            isPlain: flows[direction].form == .plain,
            decompressed: decompressed,
            packing: packing
        )
        let size = packing == nil ? decompressed?.count ?? payload.count : Self.large
        pass(.message(message), payload, direction, from: direction == .request ? 0 : run.chain.links.count - 1)
        worker.turns.passed(size)
        // Unless somebody keeps it: a stream at rest does not hold its last message.
        if message === flows[direction].message { message.release() }
    }

    func compression(_ direction: Direction) -> Compression {
        direction == .request ? requestCompression : response.compression
    }

    private func makeMessage(_ direction: Direction) -> Message {
        if let kept = flows[direction].message { return kept }
        let new = Message(direction, isBare: !rpcProtocol.hasEnvelopes, queues: worker.context.queues)
        new.number = flows[direction].keptMessages
        flows[direction].message = new
        return new
    }

    /// A message is kept by somebody: the next one needs another place.
    func lostMessage(_ message: Message, _ direction: Direction) {
        guard flows[direction].message === message else { return }
        flows[direction].keptMessages = message.number
        flows[direction].message = nil
    }

    /// Keeps bytes of a bare message until it is whole.
    func keepBare(_ body: Span<UInt8>, _ direction: Direction) {
        let queue = flows[direction].bare ?? worker.acquireQueue()
        flows[direction].bare = queue
        let limit = direction == .request ? callerLeg.listener.heldMessageLimit : responseLimit
        guard queue.count + body.count <= limit else {
            if flows[direction].form == .plain { return passPlain(queue, body) }
            let words = "a \(direction.sender) message exceeds limits.held_message (\(limit) bytes)"
            return failBody(RPCError(.resourceExhausted, words), direction)
        }
        queue.append(body)
        flows[direction].pieceCame = worker.context.loop.now
    }

    /// A body that is no message and too large to be held passes as it comes.
    private func passPlain(_ kept: ByteQueue, _ body: Span<UInt8>) {
        let number = response.number
        (flows.response.form, flows.response.bare) = (.bytes, nil)
        pass(.bytes, kept.readable, .response, from: run.chain.links.count - 1)
        worker.release(kept)
        if isOpen(.response, number) { receiveResponse(body) }
    }

    /// The one bare message of a body is whole.
    func bareMessageCame(_ direction: Direction) {
        let isQuery = direction == .request && rpcProtocol == .connectGet
        let body: ByteQueue?
        do throws(RPCError) {
            body = isQuery ? try messageOfQuery() : flows[direction].bare
        } catch {
            return failBody(error, direction)
        }
        flows[direction].bare = nil
        let isCompressed = compression(direction) != .identity && body.map { !$0.isEmpty } ?? false
        guard let body else { return messageCame(0, Span(), direction) }
        messageCame(isCompressed ? Envelope.compressed : 0, body.readable, direction)
        worker.release(body)
    }

    private func messageOfQuery() throws(RPCError) -> ByteQueue? {
        let request = request
        let query = request.query
        guard let message = try ConnectQuery(query)?.message(in: query) else { return nil }
        let queue = worker.acquireQueue()
        queue.append(message)
        return queue
    }

    func failBody(_ error: RPCError, _ direction: Direction) {
        direction == .request ? failRequest(error) : failResponse(error)
    }

    // MARK: Out of the chain

    /// Writes a message as the body has it; one that nobody has changed is not copied.
    func write(_ message: Message, _ bytes: Span<UInt8>, _ direction: Direction, to send: (Span<UInt8>) -> Void) {
        let rpcProtocol = direction == .request ? upstreamLeg.rpcProtocol : responseProtocol
        guard message.isChanged else {
            return message.withArrived(bytes) { payload in
                write(payload, isCompressed: message.isCompressed, rpcProtocol, to: send)
            }
        }
        guard message.isCompressed else {
            return message.withPayload(or: bytes) { write($0, isCompressed: false, rpcProtocol, to: send) }
        }
        let compressed = worker.acquireQueue()
        let compression = direction == .request ? compressionUpstream : response.compression
        message.withPayload(or: bytes) { worker.compressor.compress($0, as: compression, into: compressed) }
        write(compressed.readable, isCompressed: true, rpcProtocol, to: send)
        worker.release(compressed)
    }

    private func write(
        _ payload: Span<UInt8>,
        isCompressed: Bool,
        _ rpcProtocol: RPCProtocol,
        to send: (Span<UInt8>) -> Void
    ) {
        guard rpcProtocol.hasEnvelopes else { return send(payload) }
        let flags = isCompressed ? Envelope.compressed : 0
        let frame = worker.acquireQueue()
        if rpcProtocol == .grpcWebText {
            frame.append(message: payload, flags: flags, in: rpcProtocol)
            send(frame.readable)
        } else {
            frame.append(Envelope(flags: flags, length: UInt32(payload.count)))
            send(frame.readable)
            if payload.count > 0 { send(payload) }
        }
        worker.release(frame)
    }
}

extension Direction {
    /// Whose message it is that goes there.
    var sender: String { self == .request ? "request" : "response" }
}
