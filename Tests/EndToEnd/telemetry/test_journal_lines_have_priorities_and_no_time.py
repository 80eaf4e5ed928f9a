"""If systemd's journal reads standard error, each line of the operational log has a priority and no time."""

import signal

# Only a shell that becomes the daemon knows what its standard error is.
THROUGH = ["sh", "-c", 'JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$0" "$@"']
CONFIGURATION = "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:80\n"


def test_the_operational_log(martlet):
    proxy = martlet(CONFIGURATION, through=THROUGH, wait=False)
    proxy.stderr.wait(r"^<6>info ready generation=1")
    proxy.write("listn: 1\n")
    proxy.signal(signal.SIGHUP)
    proxy.stderr.wait(r"^<3>error reload rejected ")
    proxy.stderr.wait(r'^<3>error .*unknown key "listn"')
    proxy.write(CONFIGURATION + "workers: 3\n")
    proxy.signal(signal.SIGHUP)
    proxy.stderr.wait(r"^<4>warn a change of workers requires a restart")


def test_a_file_that_is_rejected_at_startup(martlet):
    proxy = martlet("listn: 1\n", through=THROUGH, wait=False)
    assert proxy.exit_code() == 78
    assert all(line.startswith("<3>") for line in proxy.stderr)


def test_a_log_that_cannot_be_opened(martlet, tmp_path):
    proxy = martlet(CONFIGURATION + f"interceptors: [ log: {{ to: {tmp_path}/none/log }} ]\n", through=THROUGH, wait=False)
    proxy.stderr.wait(r"^<3>error cannot start reason=.*cannot write to the log .*/none/log: ")


def test_a_variable_for_another_process(martlet):
    proxy = martlet(CONFIGURATION, environment={"JOURNAL_STREAM": "8:1"})
    proxy.stderr.wait(r"^\d{4}-.*Z info ready ")
