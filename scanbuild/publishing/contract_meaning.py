"""What an expression of a manifest depends on there: equal meanings give equal values for equal calls."""

from scanbuild.package.model import Json, Manifest
from scanbuild.planning.scope import mentions_in
from scanbuild.publishing.contract_change import canonical


def meaning(value: Json, manifest: Manifest) -> str:
    """A text of an expression, the manifest's derives that it reaches, and the tunables if it reads any."""
    names = set(mentions_in(value))
    pending = names & manifest.derive.keys() if "derive" not in names else set(manifest.derive)
    reached: set[str] = set()
    while pending:
        name = pending.pop()
        reached.add(name)
        found = mentions_in(manifest.derive[name])
        names |= found
        pending |= (found & manifest.derive.keys() if "derive" not in found else set(manifest.derive)) - reached
    derives: dict[str, Json] = {name: manifest.derive[name] for name in sorted(reached)}
    tunables: dict[str, Json] = dict(manifest.tunables) if "tunables" in names else {}
    return canonical([value, derives, tunables])
