"""Which addresses are looked up: the same ones in each run."""

import random


def boundaries(symbols):
    """First and last byte of each function, and the byte after it."""
    for start, size in symbols:
        yield start
        if size != 0:
            yield start + size - 1
            yield start + size


def random_ones(sections, number, seed):
    """Evenly spread over the code."""
    chance = random.Random(seed)
    spans = [s for s in sections if s[1] != 0]
    if not spans:
        return
    weights = [size for _, size in spans]
    for start, size in chance.choices(spans, weights, k=number):
        yield start + chance.randrange(size)


def of_file(symbols, sections, number, seed):
    """Only symbols in code: not those of data or of dropped code."""
    wanted = set(boundaries(symbols)) | set(random_ones(sections, number,
                                                        seed))
    return sorted(a for a in wanted
                  if any(s <= a < s + size for s, size in sections))
