"""The caches, each set up for the same job: what goes to the backend is as elsewhere, and responses are stored with `x-served-by`."""

import dataclasses

from peers import PEERS, Peer, martlet, nginx

CACHE = ["metrics: {}", "cache: { in: bench }"]
# Behind the cache: for what is not in it.
BEHIND = ["token: { file: %{directory}/token }", "headers: { request: { remove: [x-internal] }, response: { set: { x-served-by: martlet } } }"]


def martlet_cache(case, marks):
    return martlet(case, marks, interceptors=CACHE + BEHIND, routes="caches: { bench: { bytes: 64MiB, object: 1MiB } }")


def nginx_cache(case, marks):
    """Its files are in memory and stay open. To read so little is cheaper for it than sendfile."""
    lines = [f"proxy_cache_path {marks['memory']}/{marks['port']} levels=1 keys_zone=bench:8m max_size=64m inactive=1d use_temp_path=off"]
    lines += ["open_file_cache max=1000 inactive=1d", "open_file_cache_valid 1d", "proxy_cache bench", "proxy_cache_key $uri", "sendfile off"]
    return nginx(case, marks) | {"cache": " ".join(f"{line};" for line in lines)}


# What it would note of each call, which others do not: that is a third of what a hit costs it.
NOTES = "ReqStart ReqMethod ReqURL ReqProtocol ReqHeader ReqUnset ReqAcct VCL_call VCL_return VCL_use Hit RespProtocol RespStatus"
NOTES += " RespReason RespHeader RespUnset Timestamp Link Begin End"
PARAMETERS = ["thread_pools=1", "timeout_idle=3600", "timeout_linger=1", "vsl_mask=" + ",".join(f"-{tag}" for tag in NOTES.split())]
VARNISH = ["-s", "malloc,64m", *(word for each in PARAMETERS for word in ("-p", each))]
CACHES = {
    peer.name: peer
    for peer in [
        dataclasses.replace(PEERS["martlet"], marks=martlet_cache),
        dataclasses.replace(PEERS["nginx"], marks=nginx_cache),
        Peer(
            "varnish",
            "varnish.vcl",
            lambda case, marks: {},
            ["-F", "-j", "none", "-n", "{directory}/varnish", "-a", "127.0.0.1:{port}", "-f", "{file}", *VARNISH],
            "-V",
            command="varnishd",
        ),
    ]
}
