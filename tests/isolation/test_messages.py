"""Messages between the runner and an isolated process."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bai_gym.isolation.messages import pack, unpack


def test_messages_hold_plain_arrays_alone() -> None:
    arrays = {"a": np.arange(6).reshape(2, 3), "b": np.array(1.5), "c": np.zeros((0, 2), bool)}
    header, back = unpack(pack({"do": "it", "n": 3}, arrays))
    assert header == {"do": "it", "n": 3} and set(back) == set(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype and np.array_equal(back[name], array)
    head = json.dumps({"arrays": [["a", "|O", [1]]]}).encode()
    for message in (b"", b"nonsense", len(head).to_bytes(4, "big") + head + bytes(8)):
        with pytest.raises(ValueError, match="this is no message"):
            unpack(message)
