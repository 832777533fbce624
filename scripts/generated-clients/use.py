"""Uses the client that openapi-python-client has generated."""

import os

from halyard import AuthenticatedClient
from halyard.api.evaluation import evaluate_flag, evaluate_flags
from halyard.api.flags import create_flag, delete_flag, get_flag, list_flags, report_usage, update_flag
from halyard.api.webhooks import create_webhook, get_delivery, rotate_secret, test_webhook
from halyard.models import (
    AttributeCondition,
    AttributeConditionOp,
    CreateFlagBody,
    CreateFlagBodyType,
    CreateFlagBodyValueType,
    CreateFlagBodyVariants,
    CreateWebhookBody,
    ErrorError,
    EvaluateFlagBody,
    EvaluateFlagBodyContext,
    EvaluateFlagsBody,
    EvaluateFlagsBodyContext,
    ReportUsageBody,
    ReportUsageBodyEvaluationsItem,
    RolloutFlag,
    Rule,
    UpdateFlagBody,
    VariantFlag,
)

client = AuthenticatedClient(base_url=os.environ["HALYARD_URL"], token=os.environ["HALYARD_API_KEY"])

made = create_flag.sync_detailed(
    client=client,
    body=CreateFlagBody(key="generated", type_=CreateFlagBodyType.ROLLOUT, percentage=12.345),
    idempotency_key="python",
)
assert made.status_code == 201 and isinstance(made.parsed, RolloutFlag), made
assert made.parsed.percentage == 12.345, made
changed = update_flag.sync_detailed(
    "generated", client=client, body=UpdateFlagBody(enabled=True), if_match=made.headers["etag"]
)
assert changed.status_code == 200 and changed.parsed.enabled is True, changed
stale = update_flag.sync_detailed("generated", client=client, body=UpdateFlagBody(enabled=False), if_match='"1"')
assert stale.parsed.error == ErrorError.PRECONDITION_FAILED, stale
assert [flag.key for flag in list_flags.sync(client=client)] == ["generated"]

variants = CreateFlagBodyVariants()
variants["blue"] = "#00f"
colour = create_flag.sync(
    client=client,
    body=CreateFlagBody(
        key="colour",
        type_=CreateFlagBodyType.VARIANT,
        value_type=CreateFlagBodyValueType.STRING,
        variants=variants,
        off="blue",
        otherwise="blue",
        rules=[Rule(when=AttributeCondition(attribute="plan", op=AttributeConditionOp.IN, values=["pro"]), serve="blue")],
    ),
)
assert isinstance(colour, VariantFlag) and colour.variants["blue"] == "#00f", colour
assert colour.rules[0].when.attribute == "plan", colour
assert delete_flag.sync_detailed("colour", client=client).status_code == 204

context = EvaluateFlagBodyContext(targeting_key="user-1")
one = evaluate_flag.sync("generated", client=client, body=EvaluateFlagBody(context=context))
assert one.reason.value == "SPLIT" and isinstance(one.value, bool), one
missing = evaluate_flag.sync("missing", client=client, body=EvaluateFlagBody(context=context))
assert missing.error_code.value == "FLAG_NOT_FOUND", missing
everything = evaluate_flags.sync(
    client=client, body=EvaluateFlagsBody(context=EvaluateFlagsBodyContext(targeting_key="user-1"))
)
assert everything.flags[0].key == "generated", everything
counted = ReportUsageBody(evaluations=[ReportUsageBodyEvaluationsItem(key="generated", on=1, off=0)])
assert report_usage.sync_detailed(client=client, body=counted).status_code == 204

hook = create_webhook.sync(client=client, body=CreateWebhookBody(url="http://127.0.0.1:9/", events=["*"]))
sent = test_webhook.sync(hook.id, client=client)
assert sent.kind.value == "test", sent
delivery = get_delivery.sync(hook.id, sent.id, client=client)
assert delivery.request.method == "POST", delivery
rotated = rotate_secret.sync_detailed(hook.id, client=client)
assert rotated.status_code == 200 and rotated.parsed.secret != hook.secret, rotated

assert delete_flag.sync_detailed("generated", client=client).status_code == 204
gone = get_flag.sync("generated", client=client)
assert gone.error == ErrorError.NOT_FOUND, gone
print("used")
