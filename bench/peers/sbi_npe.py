"""Parameters of two toys by sbi's neural posterior estimation with its defaults, for sbi_bench.py.

NPE takes a vector for a data set: here 41 quantiles of each observable (signed logarithms, since g-and-k has long tails)
and the norms that proxy1d's data tell. One network serves all data sets; its training counts once.

usage: sbi_npe.py TOY FOLDER SIMULATIONS      reads FOLDER/data.pt, writes FOLDER/sbi.json
"""
import json
import sys
import time

import torch
from sbi.inference import NPE
from sbi.utils import BoxUniform

from toys import TOYS


def features(events, norms):
    quantiles = torch.quantile(events, torch.linspace(0.0, 1.0, 43)[1:-1], dim=1).permute(1, 2, 0).flatten(1)
    quantiles = quantiles.sign() * torch.log1p(quantiles.abs())
    return quantiles if norms is None else torch.cat([quantiles, norms.log()], 1)


def main():
    toy, folder, simulations = TOYS[sys.argv[1]], sys.argv[2], int(sys.argv[3])
    data = torch.load(f"{folder}/data.pt")
    torch.manual_seed(1)
    begin = time.perf_counter()
    prior = BoxUniform(torch.tensor(toy.low), torch.tensor(toy.high))
    theta = prior.sample((simulations,))
    rows = torch.cat([features(*toy.simulate(piece, toy.events)) for piece in theta.split(100)])
    simulated = time.perf_counter() - begin
    posterior = NPE(prior, show_progress_bars=False).append_simulations(theta, rows)
    posterior.train()
    posterior = posterior.build_posterior()
    trained = time.perf_counter() - begin
    found = []
    for events, norms in data:
        samples = posterior.sample((2000,), x=features(events[None], None if norms is None else norms[None]),
                                   show_progress_bars=False)
        found.append({"values": samples.mean(0).tolist(), "errors": samples.std(0).tolist()})
    over = time.perf_counter() - begin
    with open(f"{folder}/sbi.json", "w", encoding="utf-8") as file:
        json.dump({"found": found, "simulate_s": simulated, "prepare_s": trained, "each_s": (over - trained) / len(data)},
                  file)


if __name__ == "__main__":
    main()
