"""Columns give back what went in, and keep Postgres's own bytes."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.session.arrays import BigInts, Ints, Uuids


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_bigints(values: list[int]) -> None:
    column = BigInts.of(values)
    assert column.values() == values
    assert len(column) == len(values)
    assert BigInts(column.raw).values() == values


@given(st.lists(st.integers(-(2**31), 2**31 - 1)))
def test_ints(values: list[int]) -> None:
    assert list(Ints.of(values)) == values


@given(st.lists(st.uuids()))
def test_uuids(values: list[UUID]) -> None:
    column = Uuids.of(values)
    assert list(column) == values
    assert column[::-1] == values[::-1]
    assert column.as_sent() == [value.bytes for value in values]
    with pytest.raises(IndexError):
        column[len(values)]
