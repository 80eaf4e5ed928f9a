"""The configuration that makes methods of an HTTP API for movies."""

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
