internal import COpenSSL

/// OpenSSL's queue of errors.
///
/// There is one for each thread, and `SSL_get_error` looks into it: an error that was left there by one connection
/// would be taken for an error of the next. So it is empty whenever this module is left.
enum ErrorQueue {
    /// Forgets all errors.
    static func clear() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// The oldest error, which is the cause of the others; all are forgotten.
    static func pop() -> UInt {
        let error = ERR_get_error()
        ERR_clear_error()
        return error
    }

    /// The oldest error of the TLS protocol itself, if there is one, else of anything; all are forgotten.
    static func popProtocolError() -> UInt {
        let first = ERR_get_error()
        var error = first
        while error != 0, ERR_GET_LIB(error) != ERR_LIB_SSL { error = ERR_get_error() }
        ERR_clear_error()
        return error == 0 ? first : error
    }

    /// What an error is about, as one of OpenSSL's constants with `_R_`.
    static func reason(of error: UInt) -> Int32 {
        ERR_GET_REASON(error)
    }

    /// Whether an error is that memory is short.
    static func isOfMemory(_ error: UInt) -> Bool {
        martlet_error_is_of_memory(error) == 1
    }

    /// OpenSSL's words for an error.
    static func text(of error: UInt) -> String {
        if isOfMemory(error) { return "out of memory" }
        guard let text = unsafe ERR_reason_error_string(error) else { return "error \(reason(of: error))" }
        return unsafe String(cString: text)
    }
}
