/// How much of a body has passed whose length is known, in thousandths: cut, so that all of them means that all has passed.
struct BodyShare: Equatable {
    let thousandths: Int

    /// Measures a body.
    ///
    /// - Parameters:
    ///   - passed: the bytes that have passed.
    ///   - length: the length that the head has announced.
    init(_ passed: Int, of length: Int) {
        let (product, overflow) = passed.multipliedReportingOverflow(by: 1000)
        let share = overflow ? passed / max(1, length / 1000) : product / max(1, length)
        thousandths = passed >= length ? 1000 : min(999, max(0, share))
    }
}
