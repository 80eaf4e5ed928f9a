import Glibc

/// A directory that is gone with the test that made it.
final class TemporaryDirectory {
    let path: String

    init() {
        var template = Array("/tmp/martlet-test-XXXXXX".utf8CString)
        path = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe String(cString: mkdtemp(buffer.baseAddress!))
        }
    }

    deinit {
        removeTree(path)
    }

    static func / (directory: TemporaryDirectory, name: String) -> String {
        directory.path + "/" + name
    }
}

private func removeTree(_ path: String) {
    if let directory = unsafe opendir(path) {
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            // A link to a directory is removed as a link: its target is in the same tree, or not ours.
            let kind = unsafe entry.pointee.d_type
            if kind != UInt8(DT_DIR) {
                _ = unsafe remove(path + "/" + name)
            } else if name != ".", name != ".." {
                removeTree(path + "/" + name)
            }
        }
        unsafe closedir(directory)
    }
    _ = unsafe remove(path)
}
