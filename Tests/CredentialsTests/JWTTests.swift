import Documents
import Events
import HTTP2Kit
import TLS
import Testing
import Time

@testable import Credentials

/// Tokens that are made, and when one ends.
@Suite struct JWTTests {
    @Test func `a token is signed in the compact form`() throws {
        let claims = JWTClaims(
            issuer: "martlet",
            subject: "me",
            audience: ["https://id.example/"],
            others: [
                .init("scope", .string("réad")), .init("n", .array([.integer(1), .bool(true), .null])),
            ]
        )
        let token = JWT(
            keyID: "key 1",
            claims: claims.members(at: WallTime(nanoseconds: 1_700_000_000_999_999_999), id: "abc")
        )
        // Made by another library with the same key.
        #expect(
            String(decoding: try token.signed(by: Self.key()), as: UTF8.self)
                == "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCIsImtpZCI6ImtleSAxIn0."
                + "eyJpc3MiOiJtYXJ0bGV0Iiwic3ViIjoibWUiLCJhdWQiOiJodHRwczovL2lkLmV4YW1wbGUvIiwiaWF0IjoxNzAwMDAwMDAwLCJl"
                + "eHAiOjE3MDAwMDAzMDAsImp0aSI6ImFiYyIsInNjb3BlIjoicsOpYWQiLCJuIjpbMSx0cnVlLG51bGxdfQ."
                + "qIXqv0mu581MovnsDsJkqKvZG9ZdxGgXSJHhO_PrX60HTxY-Y67eAuWmZ2sv0QTlYGhfp9By6dDKijA6YJtMDQ"
        )
    }

    @Test func `headers and claims that nobody asks for are left out`() throws {
        let claims = JWTClaims(lifetime: .second).members(at: .epoch + 5 * .second, id: nil)
        #expect(claims == [.init("iat", .integer(5)), .init("exp", .integer(6))])
        let token = try JWT(type: nil, claims: claims).signed(by: Self.key())
        #expect(String(decoding: token, as: UTF8.self).hasPrefix("eyJhbGciOiJFZERTQSJ9.eyJpYXQiOjUsImV4cCI6Nn0."))
        #expect(JWT.expiry(of: token) == .epoch + 6 * .second)
    }

    @Test func `several audiences are a list, and a leeway makes the token good before`() {
        let claims = JWTClaims(audience: ["a", "b"], lifetime: 10 * .second, notBeforeLeeway: 30 * .second)
        #expect(
            claims.members(at: .epoch + 100 * .second, id: nil)
                == [
                    .init("aud", .array([.string("a"), .string("b")])), .init("iat", .integer(100)),
                    .init("nbf", .integer(70)), .init("exp", .integer(110)),
                ]
        )
    }

    @Test func `a claim of the file takes the place of ours`() {
        let claims = JWTClaims(
            issuer: "a",
            others: [.init("x", .null), .init("iss", .string("b")), .init("x", .bool(true))]
        )
        let members = claims.members(at: .epoch, id: nil)
        #expect(members.map(\.name) == ["iss", "iat", "exp", "x"])
        #expect(members[0].value == .string("b"))
        #expect(members[3].value == .bool(true))
    }

    @Test func `a client vouches for itself`() {
        let claims = JWTClaims.clientAssertion(clientID: "me", audience: "https://id.example/token")
        #expect(
            claims.members(at: .epoch + 1000 * .second, id: "x")
                == [
                    .init("iss", .string("me")), .init("sub", .string("me")),
                    .init("aud", .string("https://id.example/token")), .init("iat", .integer(1000)),
                    .init("exp", .integer(1060)), .init("jti", .string("x")),
                ]
        )
    }

    @Test func `an id has 128 bits and differs from the next`() {
        var generator = SeededGenerator(seed: 7)
        let ids = (0..<100).map { _ in JWTClaims.makeID(using: &generator) }
        #expect(Set(ids).count == 100)
        #expect(ids.allSatisfy { $0.utf8.count == 22 })
    }

    @Test(arguments: [
        // {"alg":"none"} . {"exp":…}
        ("eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9.", 1_700_000_000_000_000_000),
        ("eyJhbGciOiJub25lIn0.eyJleHAiOjEuNX0.c2ln", 1_500_000_000),
        ("eyJhbGciOiJub25lIn0.eyJleHAiOjFlMzB9.", Int64.max),
        ("eyJhbGciOiJub25lIn0.eyJleHAiOjk5OTk5OTk5OTk5OTl9.", Int64.max),
    ])
    func `the end of a token is read`(token: String, nanoseconds: Int64) {
        #expect(JWT.expiry(of: Array(token.utf8)) == WallTime(nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        "", ".", "..", "abc", "a.b.c", "eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9",
        "eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9.a.b",  // a part too many
        "eyJhbGciOiJub25lIn0=.eyJleHAiOjE3MDAwMDAwMDB9.",  // padding
        "eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9.a+b/",  // the other alphabet
        "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJub25lIn0.eyJleHAiOiIxNyJ9.",  // no `exp`, one in quotes
        "eyJhbGciOiJub25lIn0.W10.", "W10.eyJleHAiOjE3MDAwMDAwMDB9.",  // lists
    ])
    func `what is no token, or does not report, has no end`(token: String) {
        #expect(JWT.expiry(of: Array(token.utf8)) == nil)
    }

    /// The key of RFC 8037 A.1, which everybody knows.
    private static func key() throws -> SigningKey {
        let pem = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
            -----END PRIVATE KEY-----
            """
        return try SigningKey(pem: Array(pem.utf8), algorithm: .edDSA)
    }
}
