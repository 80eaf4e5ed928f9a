import Testing

@testable import Sidecar

/// The memory limit of control groups, from files as the kernel has them.
@Suite struct ControlGroupTests {
    private func limit(_ files: [String: String]) -> Int? {
        ControlGroup.memoryLimit { files[$0] }
    }

    @Test func `the limit of version 2 is the lowest on the way to the root`() {
        let groups = "0::/system.slice/martlet.service\n"
        let root = "/sys/fs/cgroup"
        #expect(
            limit([
                "/proc/self/cgroup": groups, "\(root)/system.slice/martlet.service/memory.max": "max\n",
                "\(root)/system.slice/memory.max": "268435456\n",
            ]) == 256 << 20
        )
        #expect(
            limit([
                "/proc/self/cgroup": groups, "\(root)/system.slice/martlet.service/memory.max": "134217728\n",
                "\(root)/system.slice/memory.max": "268435456\n",
            ]) == 128 << 20
        )
    }

    @Test func `in a container the root has the limit`() {
        #expect(limit(["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "33554432\n"]) == 32 << 20)
        let groups = "5:cpu:/\n4:memory:/docker/1e98\n0::/\n"
        let file = "/sys/fs/cgroup/memory/memory.limit_in_bytes"
        #expect(limit(["/proc/self/cgroup": groups, file: "67108864\n"]) == 64 << 20)
    }

    @Test func `without a limit there is none`() {
        #expect(limit([:]) == nil)
        #expect(limit(["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "max\n"]) == nil)
        let file = "/sys/fs/cgroup/memory/memory.limit_in_bytes"
        #expect(limit(["/proc/self/cgroup": "4:memory:/\n", file: "9223372036854771712\n"]) == nil)
    }
}
