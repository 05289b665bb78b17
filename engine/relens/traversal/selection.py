"""From a next-token distribution to the children of a node: the legal arcs that the decoder may take, best first.

A node in the middle of `[a-zA-Z]+` has 13,000 legal tokens and a search looks at a handful. So a selection returns
only the `size` best of them, sorted, with the exact mass of all; a further request names those it has had.

A prefix arc is given, not predicted: the rule does not cut it, its decoder log-probability is 0, and its
log-probability is the model's own, before temperature. On a CPU each node's legal tokens are picked out of its row
in numpy; on an accelerator the rows stay where they are and a mask selects, so that only the chosen few travel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from relens.query import Decoding
from relens.traversal.decoding import Kept, keep, tempered


@dataclass(frozen=True, eq=False)
class Request:
    """The legal tokens of one node, ascending (n,) int32, which are prefix arcs (n,) bool, and those already had.

    row: which of the distributions is the node's; nodes of several searches may share one.
    """

    tokens: npt.NDArray[np.int32]
    in_prefix: npt.NDArray[np.bool_]
    size: int
    had: npt.NDArray[np.int32] | None = None
    row: int = 0


@dataclass(frozen=True, eq=False)
class Children:
    """The best children of one node, in descending order of their step's rank; n is at most the request's size.

    tokens: (n,) int32. log_probs: (n,) float64, the model's (after temperature but for prefix arcs).
    decoder_log_probs: (n,) float64, under the rule, 0 for prefix arcs. in_prefix: (n,) bool.
    log_weights: (n,) float64, what each child takes of its parent's mass: its decoder log-probability, except at a node
    with prefix arcs. There the next token is drawn from the model's own distribution, since a prefix is not the
    decoder's to write, and every child takes its log-probability in that.
    mass: the summed weight of all legal children that the rule keeps, those already had included.
    more: whether legal children remain beyond these.
    """

    tokens: npt.NDArray[np.int32]
    log_probs: npt.NDArray[np.float64]
    decoder_log_probs: npt.NDArray[np.float64]
    in_prefix: npt.NDArray[np.bool_]
    log_weights: npt.NDArray[np.float64]
    mass: float
    more: bool


def select_children(
    log_probs: torch.Tensor, requests: Sequence[Request], decoding: Decoding, *, joint: bool, dense: bool | None = None
) -> list[Children]:
    """The best children for each request, from distributions (rows, vocabulary) in nats, before temperature.

    joint: a prefix arc ranks by its log-probability; otherwise every prefix arc ranks first, with 0.
    dense: select by masks on the device (None: whenever it is not the CPU); the answer is the same.
    """
    if dense is None:
        dense = log_probs.device.type != "cpu"
    selected: dict[int, Children] = {}
    # Where everything is given there is nothing to rule out, and the rule is the dear part of a long literal prefix.
    given = [place for place, request in enumerate(requests) if request.in_prefix.all()]
    ruled = [place for place, request in enumerate(requests) if not request.in_prefix.all()]
    for places, rule in ((given, Decoding()), (ruled, decoding)):
        if places:
            rows, row_of = np.unique([requests[place].row for place in places], return_inverse=True)
            few = log_probs if len(rows) == len(log_probs) else log_probs[torch.from_numpy(rows).to(log_probs.device)]
            placed = [replace(requests[place], row=row) for place, row in zip(places, row_of.tolist(), strict=True)]
            selected |= zip(places, _select(few, placed, rule, joint, dense), strict=True)
    return [selected[place] for place in range(len(requests))]


def _select(
    log_probs: torch.Tensor, requests: Sequence[Request], decoding: Decoding, joint: bool, dense: bool
) -> list[Children]:
    """`select_children` under one rule, each row that of some request."""
    after = tempered(log_probs, decoding.temperature)
    kept = keep(after, decoding)
    children: dict[int, Children] = {}
    others = list(range(len(requests)))
    if kept.values is not None and kept.tokens is not None:
        others = [place for place, request in enumerate(requests) if request.in_prefix.any()]
        listed = _Listed(kept)
        children = {
            place: listed.select(request) for place, request in enumerate(requests) if not request.in_prefix.any()
        }
    if others:
        few = [requests[place] for place in others]
        if dense:
            index = torch.tensor([request.row for request in few], device=after.device)
            rest = _select_dense(
                log_probs[index], after[index], kept.threshold[index], kept.log_mass[index], few, joint
            )
        else:
            before, tempered_rows = log_probs.numpy(), after.numpy()
            threshold, log_mass = kept.threshold.tolist(), kept.log_mass.tolist()
            rest = [
                _select_row(
                    before[request.row],
                    tempered_rows[request.row],
                    threshold[request.row],
                    log_mass[request.row],
                    request,
                    joint,
                )
                for request in few
            ]
        children |= zip(others, rest, strict=True)
    return [children[place] for place in range(len(requests))]


class _Listed:
    """The tokens that the rule keeps, as lists: a few dozen under top-k, whatever the number of legal arcs."""

    def __init__(self, kept: Kept) -> None:
        assert kept.values is not None
        assert kept.tokens is not None
        self._tokens = kept.tokens.cpu().numpy().astype(np.int32)
        self._values = kept.values.double().cpu().numpy()
        self._threshold = kept.threshold.cpu().numpy()
        self._log_mass = kept.log_mass.cpu().numpy()

    def select(self, request: Request) -> Children:
        """The children of a node without prefix arcs."""
        row = request.row
        tokens, values = self._tokens[row], self._values[row]
        legal = values >= self._threshold[row]
        if len(request.tokens):
            place = np.minimum(request.tokens.searchsorted(tokens), len(request.tokens) - 1)
            legal &= request.tokens[place] == tokens
        else:
            legal[:] = False
        tokens, values = tokens[legal], values[legal]
        decoder = np.minimum(values - self._log_mass[row], 0.0)
        mass = float(np.exp(decoder).sum())
        if request.had is not None:
            fresh = ~np.isin(tokens, request.had)
            tokens, values, decoder = tokens[fresh], values[fresh], decoder[fresh]
        order = np.lexsort((tokens, -decoder))[: request.size]
        more = len(tokens) > request.size
        tokens, values, decoder = tokens[order], values[order], decoder[order]
        return Children(tokens, values, decoder, np.zeros(len(tokens), np.bool_), decoder, mass, more)


def _select_row(
    before: npt.NDArray[np.float32],
    after: npt.NDArray[np.float32],
    threshold: float,
    kept_mass: float,
    request: Request,
    joint: bool,
) -> Children:
    tokens, in_prefix = request.tokens, request.in_prefix
    values = after[tokens].astype(np.float64)
    decoder = np.minimum(values - kept_mass, 0.0)
    step = np.where(values >= threshold, decoder, -np.inf)
    weight = step
    if in_prefix.any():
        given = before[tokens].astype(np.float64)
        values = np.where(in_prefix, given, values)
        decoder = np.where(in_prefix, 0.0, decoder)
        weight = np.where(in_prefix | (step > -np.inf), given, -np.inf)
        step = np.where(in_prefix, given if joint else 0.0, step)
    mass = float(np.exp(weight).sum())
    open_tokens = np.flatnonzero(step > -np.inf)
    if request.had is not None:
        open_tokens = open_tokens[~np.isin(tokens[open_tokens], request.had)]
    more = len(open_tokens) > request.size
    if more:
        best = np.argpartition(-step[open_tokens], request.size - 1)[: request.size]
        open_tokens = open_tokens[np.sort(best)]
    order = open_tokens[np.argsort(-step[open_tokens], kind="stable")]
    return Children(tokens[order], values[order], decoder[order], in_prefix[order], weight[order], mass, more)


def _select_dense(
    before: torch.Tensor,
    after: torch.Tensor,
    threshold: torch.Tensor,
    kept_mass: torch.Tensor,
    requests: Sequence[Request],
    joint: bool,
) -> list[Children]:
    """The same, by masks over the whole vocabulary, without moving a row off the device."""
    rows, vocabulary = after.shape
    device = after.device
    legal = _mask([request.tokens for request in requests], vocabulary, device)
    prefix = None
    if any(request.in_prefix.any() for request in requests):
        prefix = _mask([request.tokens[request.in_prefix] for request in requests], vocabulary, device)
    decoder = torch.clamp(after.double() - kept_mass[:, None], max=0.0)
    step = torch.where(legal & (after >= threshold[:, None]), decoder, -torch.inf)
    weight = step
    if prefix is not None:
        has_prefix = prefix.any(dim=1, keepdim=True)
        weight = torch.where(prefix | (has_prefix & torch.isfinite(step)), before.double(), step)
        step = torch.where(prefix, before.double() if joint else torch.zeros_like(step), step)
    mass = weight.exp().sum(dim=1).tolist()
    if any(request.had is not None for request in requests):
        empty = np.empty(0, np.int32)
        had = _mask([empty if request.had is None else request.had for request in requests], vocabulary, device)
        step = torch.where(had, -torch.inf, step)
    left = torch.isfinite(step).sum(dim=1).tolist()
    width = min(max(request.size for request in requests), vocabulary)
    best, indices = torch.topk(step, width, dim=1)
    chosen_before = before.gather(1, indices).double().cpu().numpy()
    chosen_after = after.gather(1, indices).double().cpu().numpy()
    chosen_decoder = decoder.gather(1, indices).cpu().numpy()
    chosen_weights = weight.gather(1, indices).cpu().numpy()
    best_steps, chosen = best.cpu().numpy(), indices.cpu().numpy().astype(np.int32)
    result = []
    for row in range(rows):
        request = requests[row]
        count = min(request.size, int(left[row]))
        order = np.lexsort((chosen[row, :count], -best_steps[row, :count]))
        tokens = chosen[row, order]
        in_prefix = np.isin(tokens, request.tokens[request.in_prefix])
        result.append(
            Children(
                tokens,
                np.where(in_prefix, chosen_before[row, order], chosen_after[row, order]),
                np.where(in_prefix, 0.0, chosen_decoder[row, order]),
                in_prefix,
                chosen_weights[row, order],
                float(mass[row]),
                left[row] > request.size,
            )
        )
    return result


def _mask(token_lists: Sequence[npt.NDArray[np.int32]], vocabulary: int, device: torch.device) -> torch.Tensor:
    """Bool (rows, vocabulary), True at each row's tokens. Rows that share one array, as nodes in the same automaton
    state do, are sent to the device once."""
    distinct: dict[int, int] = {}
    arrays: list[npt.NDArray[np.int32]] = []
    rows = []
    for tokens in token_lists:
        key = id(tokens)
        if key not in distinct:
            distinct[key] = len(arrays)
            arrays.append(tokens)
        rows.append(distinct[key])
    flat = np.concatenate([index * vocabulary + tokens.astype(np.int64) for index, tokens in enumerate(arrays)])
    mask = torch.zeros(len(arrays) * vocabulary, dtype=torch.bool, device=device)
    mask[torch.from_numpy(flat).to(device)] = True
    return mask.view(len(arrays), vocabulary)[torch.tensor(rows, device=device)]
