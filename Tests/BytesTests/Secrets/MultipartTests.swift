import Bytes
import Testing

/// Bodies of `multipart/form-data` without the credentials in them.
@Suite struct MultipartTests {
    private func masked(_ body: String, boundary: String = "b1") -> String? {
        MaskedText.maskedForm(Array(body.utf8), boundary: Array(boundary.utf8))
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private func body(_ disposition: String, _ content: String) -> String {
        """
        --b1\r\nContent-Disposition: form-data; name="user"\r\n\r\nann\r\n\
        --b1\r\n\(disposition)\r\n\r\n\(content)\r\n--b1--\r\n
        """
    }

    @Test(arguments: [
        ("Content-Disposition: form-data; name=\"password\"", "x1"),
        ("Content-Disposition: form-data; name=password", "x1"),
        ("Content-Disposition: form-data; x; name=\"password\"", "x1"),
        ("Content-Disposition: form-data; x;; y ; name=\"password\"; z", "x1"),
        ("content-disposition:form-data;name=\"code\"", "x1"),
        ("CONTENT-DISPOSITION: form-data; filename=\"a;b\"; name=\"api_key\"", "x1"),
        ("Content-Disposition: form-data;\r\n name=\"password\"", "x1"),
        ("Content-Disposition: form-data; name=\"a\"; name*=UTF-8''token", "x1"),
        ("Content-Type: text/plain\r\nContent-Disposition: form-data; name=\"user[passwd]\"", "x1"),
        ("Content-Disposition: form-data; name=\"pass\\word\"", "x1"),
        ("Content-Disposition: form-data; name=\"secret\"", "x1\r\n\r\n--b x2"),
        ("Content-Disposition: form-data; name=\"secret\"", "x1\r\n--b1x\r\n\r\n--b1--x\r\n\r\n--b1 x2"),
        ("Content-Disposition \t: form-data; name=\"password\"", "x1"),
        ("Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=\"password\"", "x1"),
        ("Content-Disposition: form-data; name=a\r\nContent-Disposition: x; name=pin; filename=b", "x1"),
        ("Content-Disposition: form-data; name*=utf-8''p%61ssword", "x1"),
        ("Content-Disposition: form-data; name*=utf-8'en'key", "x1"),
        ("Content-Disposition: form-data; name=\"pass%22word\"", "x1"),
        ("Content-Disposition: form-data; name=\"note\"", MaskedTextTests.jwt),
    ])
    func `a field that is named like a credential is masked`(_ disposition: String, _ content: String) {
        #expect(masked(body(disposition, content)) == body(disposition, "***"))
        let lines = body(disposition, content).replacing("\r\n", with: "\n")
        #expect(masked(lines) == body(disposition, "***").replacing("\r\n", with: "\n"))
    }

    @Test(arguments: [
        "name=\"note\"", "name=\"note\"; filename=\"password\"", "name=\"token_type\"", "name; x=\"password\"",
        "filename=\"name=password\"",
    ])
    func `other fields stay`(_ parameters: String) {
        #expect(masked(body("Content-Disposition: form-data; \(parameters)", "x1")) == nil)
    }

    @Test func `a field that is cut off is masked to its end`() {
        let whole = body("Content-Disposition: form-data; name=\"password\"", "x1y2z3")
        let cut = String(whole.prefix { $0 != "3" })
        #expect(masked(cut) == cut.replacing("x1y2z", with: "***"))
    }

    @Test(arguments: ["--b1 \t", "--b1"])
    func `white space may follow a boundary`(_ delimiter: String) {
        let form = body("Content-Disposition: form-data; name=\"password\"", "x1")
        #expect(
            masked(form.replacing("--b1\r\n", with: "\(delimiter)\r\n").replacing("--b1--", with: "--b1-- "))
                == body("Content-Disposition: form-data; name=\"password\"", "***")
                .replacing("--b1\r\n", with: "\(delimiter)\r\n").replacing("--b1--", with: "--b1-- ")
        )
    }

    @Test func `a body with another boundary is masked as a whole`() {
        let form = body("Content-Disposition: form-data; name=\"password\"", "x1")
        #expect(masked(form, boundary: "b2") == "***")
        #expect(masked(form, boundary: "") != nil)
        #expect(masked("") == nil)
    }

    @Test(arguments: [(70, false), (71, true)])
    func `a body whose boundary is too long is masked as a whole`(_ length: Int, _ isMasked: Bool) {
        let boundary = String(repeating: "-", count: length)
        let form = "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--\(boundary)--\r\n"
        #expect(masked(form, boundary: boundary) == (isMasked ? "***" : nil))
    }

    @Test(arguments: [
        ("multipart/form-data; boundary=b1", "b1"), ("multipart/form-data; charset=a; Boundary=\"b;1\"", "b;1"),
        ("multipart/form-data", ""), ("multipart/form-data; boundary", ""),
        ("multipart/form-data; x; boundary=b1", "b1"),
    ])
    func `a content type names the boundary`(_ type: String, _ boundary: String) {
        #expect(MaskedText.boundary(in: Array(type.utf8)) == Array(boundary.utf8))
    }
}
