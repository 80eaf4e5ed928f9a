import Bytes
import Documents
import HTTP
import Telemetry
import Testing

@testable import Proxy

/// The values of one call that its texts do not repeat.
@Suite struct SentCredentialsTests {
    private func shown(_ text: String, _ values: [[UInt8]]) -> String {
        MaskedText.masked(text, secrets: KnownSecrets(values))
    }

    @Test(arguments: [
        ("cookie", "sid=\"abc123\"; b=2", "bad abc123", "bad ***"),
        ("cookie", "a=1; sid=abc%2F123", "bad abc/123", "bad ***"),
        ("authorization", "Bearer abc123", "bad abc123", "bad ***"),
        ("authorization", "Bearer\tabc123", "bad abc123", "bad ***"),
        ("authorization", "Basic dTphYmMxMjM=", "bad abc123", "bad ***"),
        ("authorization", "Token token=abc123", "bad abc123", "bad ***"),
        ("authorization", "ApiKey:abc123", "bad abc123", "bad ***"),
        ("authorization", "Digest realm=\"orders\", nc=00000001, response=\"abc123\"", "orders abc123", "orders ***"),
        ("x-session", "abc123", "bad abc123", "bad ***"),
    ])
    func `a text repeats no credential of a header`(_ name: String, _ value: String, _ text: String, _ masked: String) {
        #expect(shown(text, SentCredentials.inField(Array(name.utf8).span, Array(value.utf8).span)) == masked)
    }

    @Test(arguments: ["bad a+b%2Babc123", "bad a+b+abc123", "bad a b+abc123"])
    func `a text repeats no parameter, however it is written`(_ text: String) {
        let query = "x=1&token=a+b%2Babc123"
        #expect(shown(text, SentCredentials.inQuery(Array(query.utf8).span, besides: nil)) == "bad ***")
    }

    @Test(arguments: [
        (#"{"card":{"number-1":1}}"#, "bad number-1", "bad ***"),
        (#"{"card":{"no":1}}"#, "bad no", "bad no"),
        (#"{"card":"é1234"}"#, "bad é1234", "bad ***"),
        (#"{"card":"é1234"}"#, #"bad "\u00e91234""#, #"bad "***""#),
        (#"{"card":"é1234"}"#, #"bad "\u00E91234""#, #"bad "***""#),
        (#"{"card":"\u{1F600}1234"}"#, #"bad "\ud83d\ude001234""#, #"bad "***""#),
    ])
    func `a text repeats no part of a message that is masked`(
        _ message: String,
        _ text: String,
        _ masked: String
    ) throws {
        var secrets = KnownSecrets()
        let redactions = Redactions(pointers: [JSONPointer("/card")!])
        let json = message.replacing("\\u{1F600}", with: "\u{1F600}")
        redactions.collect(from: try JSON.parse(Array(json.utf8).span), into: &secrets)
        #expect(MaskedText.masked(text, secrets: secrets) == masked)
    }

    @Test(arguments: [
        (["application/x-www-form-urlencoded"], "password=***"),
        (["text/plain", "Application/X-WWW-Form-URLEncoded; charset=utf-8"], "password=***"),
        (["text/plain, application/x-www-form-urlencoded"], "password=***"),
        (["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"], "***"),
        (["text/plain"], nil),
    ])
    func `a form has the type of one among its content types`(_ types: [String], _ shown: String?) {
        let head = HTTPHead()
        for type in types { head.add(.contentType, Array(type.utf8).span) }
        #expect(FormBody(head)?.masked(Array("password=x1".utf8)) == shown.map { Array($0.utf8) })
    }
}
