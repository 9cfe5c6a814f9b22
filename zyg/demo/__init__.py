"""`zyg demo`: a predator-prey model fitted to a century-old record, with gradients by zyg.

`pelts.csv` holds the numbers of pelts, in thousands, of snowshoe hare and Canada lynx that the Hudson's Bay Company
took in each year from 1900 to 1920.  The record was published by C. Elton and M. Nicholson, "The ten-year cycle in
numbers of the lynx in Canada", Journal of Animal Ecology 11 (1942) 215-244; the figures are as tabulated by P. Howard,
"Modeling basics", lecture notes, Texas A&M University (2009), and used in B. Carpenter, "Predator-prey population
dynamics: the Lotka-Volterra model in Stan" (2018).

`model.py` is the model as a user writes it, `byhand.py` and `byhand.c` its derivative by hand, `inc.py` builds the
latter, `fit.py` is the minimiser, `run.py` the command.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] = ()) -> int:
    """Run the demo; 0 if all derivatives agree."""
    from . import run

    return run.main(arguments)
