"""Flags are evaluated in the program's memory, and a change arrives at once. Needs a key of the role server."""

import os
import time

from openfeature import api
from openfeature.contrib.provider.flagd import FlagdProvider
from openfeature.contrib.provider.flagd.config import ResolverType
from openfeature.evaluation_context import EvaluationContext

provider = FlagdProvider(
    resolver_type=ResolverType.IN_PROCESS,
    host=os.environ.get("HALYARD_FLAGD_HOST", "127.0.0.1"),
    port=int(os.environ.get("HALYARD_FLAGD_PORT", "8015")),
    # The provider sends no credentials of its own, so the key travels as the provider's id.
    provider_id=os.environ["HALYARD_API_KEY"],
    deadline_ms=10_000,
)
api.set_provider(provider)
client = api.get_client()
user = EvaluationContext("user-42", {"plan": "pro"})

shown = None
while True:
    is_new = client.get_boolean_value("new-checkout", False, user)
    if is_new != shown:
        print("the new checkout" if is_new else "the old checkout", flush=True)
        shown = is_new
    time.sleep(0.1)
