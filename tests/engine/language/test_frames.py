from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from relens.language import frames

_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), lambda inner: st.lists(inner, max_size=3)
)
_arrays = st.one_of(
    arrays.arrays(kind, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0))
    for kind in (np.int32, np.bool_, np.uint8, np.int64)
)


@given(message=st.dictionaries(st.text(), _json | _arrays, max_size=5))
def test_messages_survive(message):
    data = frames.pack(message)
    header, body = frames.LENGTHS.unpack_from(data)
    start = frames.LENGTHS.size
    assert len(data) == start + header + body
    back = frames.unpack(data[start : start + header], data[start + header :])
    assert back.keys() == message.keys()
    for name, value in message.items():
        if isinstance(value, np.ndarray):
            assert back[name].dtype == value.dtype
            assert back[name].shape == value.shape
            assert np.array_equal(back[name], value)
            assert not back[name].flags.writeable
        else:
            assert back[name] == value


def test_objects_are_refused():
    with pytest.raises(TypeError):
        frames.pack({"what": np.array([object()])})
    with pytest.raises(TypeError):
        frames.pack({"what": object()})
