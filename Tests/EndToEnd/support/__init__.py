"""What the end-to-end tests share: the daemon, callers, upstreams, and waiting for conditions."""
