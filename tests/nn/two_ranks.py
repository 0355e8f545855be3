"""Run by torchrun from test_processes.py: three steps of a tiny network on a split batch."""

import json
import sys
from pathlib import Path

import torch

from likewise.nn.device import gather_rows, leave, make_runtime, share_batch_statistics
from likewise.nn.training import TrainingStep, make_optimiser, process_share, step

torch.set_num_threads(1)
runtime = make_runtime("float32", images=False)
torch.manual_seed(0)
plain = torch.nn.Sequential(
    torch.nn.Conv2d(2, 4, 3, bias=False),
    torch.nn.BatchNorm2d(4),
    torch.nn.ReLU(),
    torch.nn.Flatten(),
    torch.nn.Linear(36, 3),
)
network = share_batch_statistics(plain)
averaged = runtime.prepare(TrainingStep(network))
optimiser = make_optimiser(network.parameters(), "adam", 1e-2, 0.0)
losses = []


def terms(own: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return a loss in which every row of the batch looks at every other."""
    rows = gather_rows(network(own))
    return {"loss": torch.logsumexp(rows @ rows.T, dim=1).mean()}


for number in range(3):
    batch = torch.randn(8, 2, 5, 5, generator=torch.Generator().manual_seed(number))
    own = batch[process_share(8, runtime.rank, runtime.n_processes)]
    loss = averaged(terms, own)["loss"]
    step(loss, optimiser, clip_norm=1.0)
    losses.append(loss.item())
facts = {
    "n_processes": [runtime.n_processes],
    "loss": losses,
    "parameters": torch.cat([p.detach().reshape(-1) for p in network.parameters()]).tolist(),
    "running_var": network.get_buffer("1.running_var").tolist(),
}
Path(sys.argv[1], f"{runtime.rank}.json").write_text(json.dumps(facts))
leave()
