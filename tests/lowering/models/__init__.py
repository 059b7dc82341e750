"""Models with a ``Scan``, as people write them."""

from tests.lowering.models.forms import FORMS
from tests.lowering.models.networks import NETWORKS
from tests.lowering.models.recurrences import RECURRENCES
from tests.lowering.models.seed import SEED

EXAMPLES = {
    example.name: example for example in (*(item for item, _ in SEED.values()), *RECURRENCES, *NETWORKS, *FORMS)
}
