"""Every evaluation is one request to Halyard. A key of the role client is enough."""

import os

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

headers = {"Authorization": f"Bearer {os.environ['HALYARD_API_KEY']}"}
url = os.environ.get("HALYARD_URL", "http://127.0.0.1:4400")
api.set_provider(OFREPProvider(url, headers_factory=lambda: headers, timeout=2.0))
client = api.get_client()

user = EvaluationContext("user-42", {"plan": "pro"})
is_new = client.get_boolean_value("new-checkout", False, user)
print("the new checkout" if is_new else "the old checkout")
