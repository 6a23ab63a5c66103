"""Names and shards: what conductor writes is what caboose reads."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.execution import SHARDS, Shard, bucket_of, name_of, parse_name

UUIDS = st.uuids(version=4)


@given(UUIDS, st.integers(1, 999_999_999))
def test_a_name_reads_back(uuid: UUID, run: int) -> None:
    name = name_of(uuid, run)
    assert parse_name(name) == (uuid, run)
    assert len(name) <= 63, "also a label value and the stem of pod names"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "my-workflow",
        "0190163d-8694-739b-aea5-966c26f8ad91-r1",
        "0190163d-8694-739b-aea5-966c26f8ad91-r0",
        "0190163d-8694-739b-aea5-966c26f8ad91-r02",
        "0190163d-8694-739b-aea5-966c26f8ad91-x",
        "0190163D-8694-739B-AEA5-966C26F8AD91",
        "0190163d8694739baea5966c26f8ad91",
        "0190163d-8694-739b-aea5-966c26f8ad91\n",
    ],
)
def test_what_name_of_would_not_write_is_not_ours(name: str) -> None:
    assert parse_name(name) is None


@given(UUIDS, st.integers(1, SHARDS))
def test_every_action_belongs_to_exactly_one_shard(uuid: UUID, count: int) -> None:
    owners = [shard for index in range(count) if (shard := Shard(index, count)).owns(uuid)]
    assert len(owners) == 1
    assert bucket_of(uuid) in owners[0].buckets


@given(UUIDS)
def test_the_bucket_is_the_lock_id_modulo_64(uuid: UUID) -> None:
    lock_id = int.from_bytes(uuid.bytes[8:], signed=True)
    assert lock_id & 63 == bucket_of(uuid)


@pytest.mark.parametrize("text", ["", "1", "4/4", "-1/2", "0/0", "0/65", "a/b", "1/2/3"])
def test_a_bad_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="shard"):
        Shard.parse(text)


def test_a_shard_reads_back() -> None:
    assert Shard.parse(str(Shard(3, 8))) == Shard(3, 8)
