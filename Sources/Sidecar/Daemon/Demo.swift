/// What runs without a configuration file: an Eliza that responds by itself, so that the first call works offline.
enum Demo {
    static let configuration = """
        listen: 127.0.0.1:8080
        admin: 127.0.0.1:9901
        interceptors:
          - metrics: {}
          - log: {}
          - headers:
              response: { set: { x-served-by: martlet } }
          - name: eliza
            when: { service: connectrpc.eliza.v1.ElizaService, method: Say }
            respond: { json: { sentence: "Hello, I am Eliza. How are you feeling today?" } }
          - reject: { code: unimplemented, message: "the demo responds to connectrpc.eliza.v1.ElizaService/Say only" }
        """
}
