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
