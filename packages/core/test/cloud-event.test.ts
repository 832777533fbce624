// The headers of CloudEvents in binary mode.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cloudEventHeaders } from "../src/cloud-event.ts";

const event = {
  id: "evt_1",
  type: "change_request.approved",
  createdAt: "2026-11-14T12:00:00.000Z",
  environment: "production",
  data: { changeRequest: { id: "cr_1" } },
};

test("without a public URL, the source is a path; without a known object, there is no subject", () => {
  assert.deepEqual(cloudEventHeaders(event, undefined), {
    "ce-specversion": "1.0",
    "ce-id": "evt_1",
    "ce-source": "/environments/production",
    "ce-type": "change_request.approved",
    "ce-time": "2026-11-14T12:00:00.000Z",
    "ce-subject": "change-requests/cr_1",
  });
  assert.ok(!("ce-subject" in cloudEventHeaders({ ...event, data: {} }, undefined)));
});

test("invalid header characters are encoded according to the HTTP binding", () => {
  const { "ce-source": source } = cloudEventHeaders(event, 'https://example.com/a%20b/"€ 😀');
  assert.equal(
    source,
    "https://example.com/a%2520b/%22%E2%82%AC%20%F0%9F%98%80/environments/production",
  );
});
