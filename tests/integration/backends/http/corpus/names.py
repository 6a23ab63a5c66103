"""Names whose answers are hostile. The look-up is the one part that is not real: no name server here
answers for these names, so the system's resolver is replaced by a table."""

from dataclasses import dataclass, field

from switchyard.handlers import Invalid, Retry


@dataclass(frozen=True)
class NameCase:
    """What the look-up says, call after call, and what must come of the first delivery."""

    name: str
    host: str
    answers: tuple[tuple[str, ...], ...]
    outcome: type[Invalid] | type[Retry]
    error: str
    settings: dict[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


CASES = [
    NameCase("name: private", "hooks.example", (("10.0.0.1",),), Invalid, "resolves to 10.0.0.1, which is private"),
    NameCase("name: loopback", "hooks.example", (("127.0.0.1",),), Invalid, "loopback"),
    NameCase("name: metadata", "hooks.example", (("169.254.169.254",),), Invalid, "link-local"),
    NameCase("name: metadata of an allowed host", "in.example", (("169.254.169.254",),), Invalid, "link-local",
             {"allow_hosts": ["in.example"]}),
    NameCase("name: public and private", "hooks.example", (("93.184.216.34", "10.0.0.1"),), Invalid, "private"),
    NameCase("name: private and public", "hooks.example", (("10.0.0.1", "93.184.216.34"),), Invalid, "private"),
    NameCase("name: public v4, private v6", "hooks.example", (("93.184.216.34", "fd00::1"),), Invalid, "private"),
    NameCase("name: mapped", "hooks.example", (("::ffff:10.0.0.1",),), Invalid, "private"),
    NameCase("name: nat64", "hooks.example", (("64:ff9b::a00:1",),), Invalid, "private"),
    NameCase("name: 6to4", "hooks.example", (("2002:a00:1::",),), Invalid, "6to4"),
    NameCase("name: zone", "hooks.example", (("fe80::1%lo",),), Invalid, "link-local"),
    NameCase("name: unspecified", "hooks.example", (("0.0.0.0",),), Invalid, "unspecified"),
    NameCase("name: below an allowed one only", "evil-in.example", (("10.0.0.1",),), Invalid, "private",
             {"allow_hosts": ["*.in.example", "in.example"]}),
    NameCase("name: outside the allowed network", "hooks.example", (("10.21.0.1",),), Invalid, "private",
             {"allow_networks": ["10.20.0.0/16"]}),
    NameCase("name: no address", "hooks.example", ((),), Retry, "cannot be resolved"),
]  # fmt: skip
