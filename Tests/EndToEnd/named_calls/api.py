"""An HTTP API for movies, and the configuration that makes methods of it."""

import json

FOUND = {"results": [{"id": 7, "title": "The Birds"}], "total_results": 1}

SEARCH = """
calls:
  search_movie:
    url: "{api}/3/search/movie?query={{query}}&include_adult={{include_adult}}"
    parameters:
      query: {{ required: true }}
      include_adult: {{ default: "false", one_of: ["true", "false"] }}
      year: {{}}
    query: {{ year: "{{year}}" }}
"""


def response(status=200, value=FOUND, content_type="application/json", fields=()):
    """A response of the API: JSON, or bytes as they are."""
    body = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
    head = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", *fields]
    head += [f"content-type: {content_type}"] if content_type else []
    return "\r\n".join([*head, "", ""]).encode() + body


def configuration(api, more="", chain="[ { call: search_movie } ]", calls=SEARCH):
    """A daemon whose method Movies/Search, and GET /search, is the call `search_movie`."""
    return f"""listen: 127.0.0.1:0
{calls.format(api=api)}
interceptors: [ metrics: {{}} ]
chains: {{ search: {chain} }}
routes:
  - match: {{ service: [Movies, films.v1.Movies] }}
    chain: search
  - match: {{ path: /search }}
    chain: search
{more}
"""
