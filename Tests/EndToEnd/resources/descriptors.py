"""A daemon that may open few files."""

import os
import resource
import select


def limited_to(soft, hard=None, one_processor=False):
    """Options for a daemon that starts with this limit of descriptors; it may have to share one processor with its programs."""

    # Not in a fork of this process: libraries with threads of their own would run in it, and write to its streams.
    through = ["prlimit", f"--nofile={soft}:{hard or soft}"]
    if one_processor:
        through += ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))]
    return {"through": through}


def limits(pid):
    """The soft and the hard limit of a process."""
    return resource.prlimit(pid, resource.RLIMIT_NOFILE)


def ended(peers):
    """The places in the list of those that the other side has closed; nothing that came is read."""
    poll = select.poll()
    for peer in peers:
        poll.register(peer.socket, select.POLLRDHUP)
    places = {peer.socket.fileno(): place for place, peer in enumerate(peers)}
    return sorted(places[fd] for fd, event in poll.poll(0) if event & (select.POLLRDHUP | select.POLLHUP))
