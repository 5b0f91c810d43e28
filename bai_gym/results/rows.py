"""Results as rows of a table: the columns of ``results.parquet``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa

from bai_gym.results.result import Optima, Result

__all__ = ["from_row", "to_arrow"]

COLUMNS = pa.schema(
    {
        "agent": pa.string(),
        "env": pa.string(),
        **dict.fromkeys(("budget", "runs", "errors"), pa.int64()),
        **dict.fromkeys(("error_probability", "error_probability_lower", "error_probability_upper"), pa.float64()),
        **dict.fromkeys(("simple_regret", "simple_regret_se"), pa.float64()),
        "mean_pulls": pa.list_(pa.float64()),
        **dict.fromkeys(("unspent", "sample_complexity"), pa.float64()),
        "sample_quantiles": pa.list_(pa.float64()),
        "truncated": pa.int64(),
        **dict.fromkeys(("oracle_knowledge", "notes"), pa.list_(pa.string())),
        "checkpoint": pa.int64(),
        "seed": pa.uint64(),
        **dict.fromkeys(("rewards", "rerun"), pa.string()),
        "mean_pulls_by_rank": pa.list_(pa.float64()),
        "digest": pa.string(),
        "arm_names": pa.list_(pa.string()),
        "arm_means": pa.list_(pa.float64()),
        "recommended": pa.list_(pa.int64()),
        **dict.fromkeys(("delta", "lower_bound", "optimum"), pa.float64()),
        "costs": pa.list_(pa.float64()),
    }
)
WITH_MONEY = COLUMNS.set(COLUMNS.get_field_index("budget"), pa.field("budget", pa.float64()))
"""The same where a budget is money."""


def to_arrow(results: Sequence[Result], optima: Optima | None = None) -> pa.Table:
    """Return results as a table with a row for each and the columns of ``results.parquet``."""
    columns = {
        "error_probability_lower": [r.interval[0] for r in results],
        "error_probability_upper": [r.interval[1] for r in results],
        "mean_pulls": [r.mean_pulls.tolist() for r in results],
        "oracle_knowledge": [r.knows for r in results],
        "seed": [r.seed if r.seed is not None and r.seed < 2**64 else None for r in results],
        "optimum": [(optima or {}).get((r.env, r.budget)) for r in results],
    }
    columns |= {name: [getattr(r, name) for r in results] for name in COLUMNS.names if name not in columns}
    return pa.table(columns, schema=WITH_MONEY if any(r.costs for r in results) else COLUMNS)


def from_row(row: Mapping[str, Any]) -> Result:
    """Return the result of a row; its ``seconds`` are 0, since folders hold no times."""
    known = {item.name for item in fields(Result)}
    lists = [column.name for column in COLUMNS if pa.types.is_list(column.type)]
    values: dict[str, Any] = {
        name: tuple(value) if name in lists else value for name, value in row.items() if name in known
    }
    values["knows"] = tuple(row["oracle_knowledge"])
    values["budget"] = row["budget"] if row["costs"] else int(row["budget"])
    values["mean_pulls"] = np.array(values["mean_pulls"], float)
    interval = (row["error_probability_lower"], row["error_probability_upper"])
    return Result(**values, interval=interval, seconds=0.0)
