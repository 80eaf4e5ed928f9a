"""Processes that act beside the daemon, and the reports that they send each second."""

import multiprocessing
import threading
import time

CONTEXT = multiprocessing.get_context("spawn")


class Reports:
    """The reports of all threads of a process, which are sent each second."""

    def __init__(self, queue):
        self._queue = queue
        self._items = []
        self._lock = threading.Lock()
        threading.Thread(target=self._send, daemon=True).start()

    def add(self, *item):
        with self._lock:
            self._items.append(item)

    def _send(self):
        while True:
            time.sleep(1)
            with self._lock:
                items, self._items = self._items, []
            self._queue.put(items)


class Group:
    """Processes that run `function(*arguments, go, queue)`, and act once `start` is called."""

    def __init__(self, function, *calls):
        self._queue = CONTEXT.Queue()
        self._go = CONTEXT.Event()
        options = {"target": function, "daemon": True}
        self._processes = [CONTEXT.Process(args=(*arguments, self._go, self._queue), **options) for arguments in calls]
        for process in self._processes:
            process.start()

    def start(self):
        """Makes the processes act."""
        self._go.set()

    def collect(self):
        """Returns the items that were reported since the last time."""
        items = []
        while not self._queue.empty():
            items += self._queue.get()
        return items

    def are_alive(self):
        return all(process.is_alive() for process in self._processes)

    def stop(self):
        """Ends the processes; returns the last items."""
        time.sleep(1.5)  # reports are sent each second
        items = self.collect()
        for process in self._processes:
            process.terminate()
            process.join(5)
        return items


def cpu_seconds(pid):
    """Returns the processor time of a process so far, by the clock of clock_getcpuclockid(3)."""
    return time.clock_gettime(~pid << 3 | 2)
