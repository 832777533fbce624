// The response of a write that became a change request.
import { Type } from "typebox";
import type { Described } from "./describe.ts";
import { flagExample } from "./schemas.ts";

export const requestReference = { $ref: "ChangeRequest#" } as const;

const actor = { keyId: null, name: "Ada", user: { id: "usr_9f86d081884c7d65", name: "Ada" } };

const summary = {
  id: "cr_2b1c4a90d7e85f33",
  environment: "production",
  state: "open",
  title: "Change the flag new-checkout",
  reason: "The load test went well",
  author: actor,
  authors: ["usr_9f86d081884c7d65"],
  createdAt: "2026-11-14T12:00:00.000Z",
  updatedAt: "2026-11-14T12:00:00.000Z",
  applyAt: null,
  appliedAt: null,
  appliedRevision: null,
  closedBy: null,
  bypass: null,
  moved: [],
};

const operation = { kind: "flag", key: "new-checkout", action: "patch", version: 7 };

export const summaryExample = { ...summary, operations: [operation] };

export const requestExample = {
  ...summary,
  operations: [
    {
      ...operation,
      body: { percentage: 50 },
      before: flagExample,
      after: { ...flagExample, percentage: 50 },
    },
  ],
  digest: "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o",
  approvals: [],
  approvalsNeeded: 1,
  comments: [],
};

/** Of every write of flags and segments. */
export const proposed: Readonly<Record<202, Described>> = {
  202: {
    description:
      "The environment is protected, and nothing was changed: the change was proposed, and is made when another person approves it.",
    schema: requestReference,
    example: requestExample,
    headers: {
      Location: {
        description: "The change request.",
        schema: Type.String({ examples: ["/api/v1/change-requests/cr_2b1c4a90d7e85f33"] }),
      },
    },
  },
};
