"""Which prefix strings a traversal goes through, one by one.

A sample draws them, a distribution takes them all. For the prefix `a|b{1,3}` and 1,000 draws

    by strings    a 1/4    b 1/4    bb 1/4    bbb 1/4       every string is equally likely
    by tokens     a 1/8    b 1/8    bb 2/8    bbb 4/8       as many encodings, as many chances (with tokens b, bb, bbb)
    by edges      a 1/2    b 1/4    bb 1/8    bbb 1/8       every way on is equally likely, and so is stopping

The last two are there to be compared with the first: ReLM's section 3.3 and appendix C show what they do to a result.
Under canonical encodings a string has one path of tokens, so by tokens and by strings are the same.
"""

from __future__ import annotations

import random
from collections import Counter

from relens.errors import LimitError
from relens.language.counting import count_strings, describe_count
from relens.language.walks import edge_strings, uniform_strings
from relens.query import Encoding, Limits, Sampling
from relens.tokens.compiled import CompiledQuery
from relens.tokens.enumerated import strings
from relens.tokens.token_walks import uniform_token_paths


def drawn_prefixes(compiled: CompiledQuery, sampling: Sampling) -> list[tuple[str, int]]:
    """The distinct prefix strings of a sample, in order, each with its number of draws; [("", count)] without a prefix.

    Strings of an infinite prefix have at most `Query.max_tokens` bytes, so that any encoding of them is short enough.
    Raises `QueryError` where there is no such string.
    """
    query = compiled.query
    if not query.prefix:
        return [("", sampling.count)]
    generator = random.Random(sampling.seed)
    prefix, longest = compiled.language.prefix, query.max_tokens
    if sampling.prefix_by == "edges":
        drawn = edge_strings(prefix, sampling.count, generator, longest)
    elif sampling.prefix_by == "tokens" and query.prefix_encoding is Encoding.ALL:
        paths = compiled.prefix_paths()
        assert paths is not None  # there is a prefix
        drawn = [
            compiled.tokenizer.decode_bytes(path).decode()
            for path in uniform_token_paths(paths, sampling.count, generator, longest)
        ]
    else:
        drawn = uniform_strings(prefix, sampling.count, generator, longest)
    return sorted(Counter(drawn).items())


def all_prefixes(compiled: CompiledQuery, limits: Limits) -> list[str]:
    """Every prefix string, in order; [""] without a prefix. Raises `LimitError` over limits.prefixes."""
    if not compiled.query.prefix:
        return [""]
    count = count_strings(compiled.language.prefix)
    if count is None or count > limits.prefixes:
        raise LimitError(
            f"The prefix has {describe_count(count)} strings, and a distribution goes through each: more than the"
            f" limit of {limits.prefixes:,}; draw a sample instead.",
            limit="prefixes",
        )
    return list(strings(compiled.language.prefix))
