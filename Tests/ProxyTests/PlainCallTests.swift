import Testing

@Suite struct PlainCallTests {
    @Test(arguments: Stage.allCases)
    func `goes to the upstream and its answer to the caller`(_ stage: Stage) {
        play(stage, plain) { scene in
            let upstream = scene.upstream()
            let caller = scene.caller()
            caller.send(say)
            let connection = upstream.accept()
            connection.expect(saidUpstream)
            connection.send(fine)
            caller.expect(fine)
            caller.expectNothing()
        }
    }
}
