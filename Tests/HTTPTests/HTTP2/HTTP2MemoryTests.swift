import Bytes
import Glibc
import Testing

@testable import HTTP

/// The small objects of nghttp2 are kept for the next ones, unless nobody needs them any more.
@Suite struct HTTP2MemoryTests {
    private let memory = HTTP2Memory()

    private func allocate(_ sizes: Int...) -> [UnsafeMutableRawPointer] {
        unsafe sizes.compactMap { unsafe memory.allocate($0) }
    }

    private func release(_ blocks: [UnsafeMutableRawPointer]) {
        unsafe blocks.forEach { unsafe memory.release($0) }
    }

    @Test func `a block goes to the next who needs one of its size`() {
        let first = unsafe allocate(100)
        unsafe release(first)
        #expect(memory.kept == 128)
        let second = unsafe allocate(120)
        unsafe #expect(second == first)
        #expect(memory.kept == 0)
        unsafe release(second)
    }

    @Test func `small blocks in use count half as much again, and kept ones not at all`() {
        let meter = MemoryMeter()
        let memory = HTTP2Memory(meter: meter)
        let blocks = unsafe [64, 2048].compactMap { unsafe memory.allocate($0) }
        #expect(meter.bytes == 64 * 3 / 2 + 2048)
        unsafe memory.release(blocks[1])
        #expect(meter.bytes == 64 * 3 / 2)
        unsafe memory.release(blocks[0])
        memory.count()
        #expect(meter.bytes == 0)
        memory.trim()
        memory.trim()
        #expect(meter.bytes == 0 && memory.kept == 0)
    }

    @Test func `large blocks are not kept`() {
        unsafe release(allocate(4096))
        #expect(memory.kept == 0)
    }

    @Test func `what nobody has needed from one trim to the next goes`() {
        unsafe release(allocate(64, 1024))
        memory.trim()
        #expect(memory.kept == 64 + 1024)
        unsafe release(allocate(64))
        memory.trim()
        #expect(memory.kept == 64)
        memory.trim()
        #expect(memory.kept == 0)
    }

    @Test func `a session and its buffer lie side by side on a page`() {
        var blocks: [UnsafeMutableRawPointer] = unsafe []
        memory.together { unsafe blocks = allocate(3000, 100, 16400, 16400) }
        let (session, buffer, other) = unsafe (
            Int(bitPattern: blocks[0]), Int(bitPattern: blocks[2]), Int(bitPattern: blocks[3])
        )
        #expect(session % 4096 < 64)
        #expect(buffer > session + 3000)
        #expect(buffer + 900 < session + 4096)
        // One only: the next buffer is no longer part of it.
        #expect(abs(other - session) > 20 * 1024 || other < session)
        unsafe blocks.forEach { unsafe memset($0, 1, 100) }
        unsafe release(blocks.reversed())
        #expect(memory.kept == 128)
        #expect(memory.sessionPages.kept == 1)
        memory.together {}
        #expect(memory.sessionPages.kept == 1)
        memory.trim()
        memory.trim()
        #expect(memory.sessionPages.kept == 0)
    }
}
