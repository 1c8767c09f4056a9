"""Click models by enumeration: every way in which hidden decisions can lead to a page's clicks."""

from collections import defaultdict

import numpy as np


def paths(process, chance):
    """(probability, clicks, decisions) of every run of a process that calls decide(parameter) → True or False."""
    waiting = [()]
    while waiting:
        prefix, made = waiting.pop(), []

        def decide(parameter, prefix=prefix, made=made):
            if len(made) >= len(prefix):
                waiting.append((*(value for _, value in made), False))
                value = True
            else:
                value = prefix[len(made)]
            made.append((parameter, value))
            return value

        clicks = process(decide)
        yield np.prod([chance(p) if value else 1 - chance(p) for p, value in made]), clicks, made


def browsing(pairs, cell):
    """Attraction and examination are decided for every document; both make a click."""

    def process(decide):
        clicks, last = [], 0
        for rank, pair in enumerate(pairs, 1):
            attracted = decide(("attractiveness", pair))
            examined = decide(("examination", cell(rank, last)))
            clicks.append(int(attracted and examined))
            last = rank if clicks[-1] else last
        return clicks

    return process


def chain(pairs, after_click, after_none):
    """Read from the top; a decision after each document says whether to go on. What is not read still attracts."""

    def process(decide):
        clicks, reading = [], True
        for rank, pair in enumerate(pairs, 1):
            attracted, bottom = decide(("attractiveness", pair)), rank == len(pairs)
            clicks.append(int(reading and attracted))
            if not reading:
                continue
            if clicks[-1]:
                reading = after_click(decide, rank, pair, bottom)
            elif not bottom:
                reading = after_none(decide)
        return clicks

    return process


def dcm(decide, rank, pair, bottom):
    return not bottom and decide(("continuation", rank - 1))


def sdbn(decide, rank, pair, bottom):
    return not decide(("satisfaction", pair))


def dbn(decide, rank, pair, bottom):
    satisfied = decide(("satisfaction", pair))
    return not satisfied and not bottom and decide(("continuation", 0))


def ccm(decide, rank, pair, bottom):
    relevant = decide(("attractiveness", pair))
    return not bottom and decide(("continuation", 2 if relevant else 1))


PROCESSES = {
    "pbm": lambda pairs: browsing(pairs, lambda rank, last: rank - 1),
    "ubm": lambda pairs: browsing(pairs, lambda rank, last: rank * (rank - 1) // 2 + last),
    "dcm": lambda pairs: chain(pairs, dcm, lambda decide: True),
    "sdbn": lambda pairs: chain(pairs, sdbn, lambda decide: True),
    "dbn": lambda pairs: chain(pairs, dbn, lambda decide: decide(("continuation", 0))),
    "ccm": lambda pairs: chain(pairs, ccm, lambda decide: decide(("continuation", 0))),
    "cascade": lambda pairs: chain(pairs, lambda *_: False, lambda decide: True),
}


def em_step(model, params, pages, prior):
    """(log-likelihood, next parameters) from pages of (pairs, clicks)."""
    successes, trials, value = defaultdict(float), defaultdict(float), 0.0
    for pairs, clicks in pages:
        found = [
            (probability, made)
            for probability, shown, made in paths(PROCESSES[model](pairs), lambda p: params[p[0]][p[1]])
            if shown == clicks
        ]
        total = sum(probability for probability, _ in found)
        value += np.log(total)
        for probability, made in found:
            for parameter, success in made:
                trials[parameter] += probability / total
                successes[parameter] += success * probability / total
    after = {name: np.array(values, float) for name, values in params.items()}
    for name, values in after.items():
        for at in range(len(values)):
            n = trials[name, at] + 2 * prior
            if n > 0:
                values[at] = (successes[name, at] + prior) / n
    return value, after
