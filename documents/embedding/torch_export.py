"""The exporter's own process: `python -m documents.embedding.torch_export FOLDER FILE`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import torch

from documents.embedding.torch_backend import load


class TokenEmbeddings(torch.nn.Module):
    """The model up to its last layer; pooling is done by whoever runs the file."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return float32, (batch, sequence, dimension)."""
        features = {"input_ids": input_ids, "attention_mask": attention_mask}
        found: torch.Tensor = self.network(features)["token_embeddings"]
        return found


def write_onnx(folder: Path, file: Path) -> None:
    """Export the model in `folder` to `file`, with any batch size and length."""
    network = load(str(folder))
    ids = torch.ones((2, 8), dtype=torch.int64)
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0
    batch = torch.export.Dim("batch")
    sequence = torch.export.Dim("sequence", max=network.max_seq_length)
    same = torch.export.Dim.AUTO  # the mask's sizes follow from the ids'
    with warnings.catch_warnings():
        # torch 2.13 uses its own deprecated tree class while it exports.
        warnings.filterwarnings("ignore", "`isinstance.treespec, LeafSpec.`", FutureWarning)
        program = torch.onnx.export(
            TokenEmbeddings(network[0]).eval(),
            (ids, mask),
            dynamo=True,
            dynamic_shapes={
                "input_ids": {0: batch, 1: sequence},
                "attention_mask": {0: same, 1: same},
            },
            input_names=["input_ids", "attention_mask"],
            output_names=["token_embeddings"],
            verbose=False,
        )
    if program is None:  # only the older exporter, which writes by itself, returns nothing
        raise RuntimeError("torch.onnx.export returned no program")
    program.save(str(file), external_data=False)


if __name__ == "__main__":
    write_onnx(Path(sys.argv[1]), Path(sys.argv[2]))
