"""Signatures are those of Standard Webhooks, one for each secret, and secrets stay out of errors."""

import base64
import hmac

import pytest

from switchyard.backends.http.sign import Signer, signing_key
from switchyard.errors import ConfigError

# The published example of the specification's libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID, TIME, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_published_example() -> None:
    assert Signer([SECRET]).headers(ID, TIME, BODY) == {
        "webhook-id": ID,
        "webhook-timestamp": str(TIME),
        "webhook-signature": SIGNATURE,
    }


def test_rotation_signs_with_every_secret_in_order() -> None:
    old = base64.b64encode(bytes(24)).decode()
    first, second = Signer([SECRET, old]).headers(ID, TIME, BODY)["webhook-signature"].split(" ")
    signed = f"{ID}.{TIME}.".encode() + BODY
    assert first == SIGNATURE
    assert second == "v1," + base64.b64encode(hmac.digest(bytes(24), signed, "sha256")).decode()


def test_the_prefix_is_optional() -> None:
    assert signing_key(SECRET) == signing_key(SECRET.removeprefix("whsec_"))


@pytest.mark.parametrize(
    "secret", ["not base64 !", "whsec_", "whsec_c2hvcnQ=", "", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZ"]
)
def test_a_bad_secret_is_refused_unseen(secret: str) -> None:
    with pytest.raises(ConfigError) as error:
        signing_key(secret)
    assert not secret or secret not in str(error.value)


def test_a_mistyped_secret_of_full_length_is_refused() -> None:
    """A decoder that skips odd characters would sign with another key."""
    whole = base64.b64encode(bytes(range(32))).decode()
    assert signing_key(whole) == bytes(range(32))
    for mistyped in (
        whole[:10] + "!" + whole[10:],
        whole[:10] + " " + whole[10:],
        whole[:10] + "é" + whole[10:],
    ):
        with pytest.raises(ConfigError, match="must be base64"):
            signing_key(mistyped)


@pytest.mark.parametrize(("size", "accepted"), [(23, False), (24, True)])
def test_the_shortest_key_has_24_bytes(size: int, accepted: bool) -> None:
    secret = base64.b64encode(bytes(size)).decode()
    if accepted:
        assert len(signing_key(secret)) == size
    else:
        with pytest.raises(ConfigError, match="at least 24 bytes, this one has 23"):
            signing_key(secret)
