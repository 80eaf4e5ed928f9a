vcl 4.1;

backend bench {
    .host = "127.0.0.1";
    .port = "%{backend}";
}

# Nothing of the rules that come with Varnish: requests of the bench have neither cookies nor credentials.
sub vcl_recv {
    return (hash);
}

sub vcl_hash {
    hash_data(req.url);
    return (lookup);
}

sub vcl_backend_fetch {
    set bereq.http.authorization = "%{authorization}";
    unset bereq.http.x-internal;
    return (fetch);
}

sub vcl_backend_response {
    set beresp.http.x-served-by = "varnish";
    return (deliver);
}
