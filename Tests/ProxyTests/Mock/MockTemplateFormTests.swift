import Testing

@testable import Interceptors

/// Forms of RFC 6570 that a mock does not have.
@Suite struct MockTemplateFormTests {
    @Test(arguments: [
        ("/v1/{+path}", "{+path}", "write {path} for one segment, or \"path: /v1/\" for all paths below it"),
        ("/v1/{#part}", "{#part}", "remove it, since callers do not send fragments"),
        ("/v1/movies{?page}", "{?page}", "write \"query: { page: present }\" beside \"template\""),
        ("/v1/movies{?page,size}", "{?page,size}", "write \"query: { page: present }\" beside \"template\""),
        ("/v1/movies?a=1{&page}", "{&page}", "write \"query: { page: present }\" beside \"template\""),
        ("/v1{/id}", "{/id}", "write /{id}"), ("/v1{/a,b}", "{/a,b}", "write /{a}/{b}"),
        ("/v1/x{.format}", "{.format}", "write {format} for a whole segment, or a \"url\" with a \"regex\""),
        ("/v1/x{;p}", "{;p}", "write {p} for a whole segment, or a \"url\" with a \"regex\""),
        ("/v1/{a,b}", "{a,b}", "write a segment for each name, as in /{a}/{b}"),
        ("/v1/{id}/{a:3}", "{a:3}", "write {a} for a whole segment, or a \"url\" with a \"regex\""),
        ("/v1/{list*}", "{list*}", "write {list} for a whole segment, or a \"url\" with a \"regex\""),
        ("/v1/{=x}", "{=x}", "write {x} for a whole segment, or a \"url\" with a \"regex\""),
        ("/v1/{@x}", "{@x}", "write {x} for a whole segment, or a \"url\" with a \"regex\""),
    ])
    func `a form of RFC 6570 is an error that says what to write`(_ text: String, _ form: String, _ advice: String) {
        let problem = "\"template\" has \"\(form)\", a form of RFC 6570 that it does not support; \(advice)"
        #expect(MockTemplateForm.problem(of: text) == problem)
    }

    @Test(arguments: [
        "/", "/v1/movies", "/{id}", "/v1/{kind}/{id}", "/v1/{movie_id}", "/v1/{movie-id}", "/v1/{movie.id}",
        "/v1/{id", "/v1/id}", "/v1/a,b", "/v1/+/x", "/v1/a:b",
    ])
    func `names and plain text are no form of RFC 6570`(_ text: String) {
        #expect(MockTemplateForm.problem(of: text) == nil)
    }
}
