// What a program tells of itself, in a report of its own or with its counts.

import { Type } from "typebox";
import { may, type Principal } from "../../platform/auth/principal.ts";
import { closedObject } from "../../platform/http/openapi/schemas.ts";
import { clientIdPattern } from "./client-id.ts";
import type { Clients } from "./connected-clients.ts";
import type { ClientReport } from "./report.ts";

export const reportedClientExample = {
  id: "c0ffee00c0ffee00c0ffee00",
  name: "checkout-7f9c 4711",
  sdk: "js/0.1.0",
  revision: "812-mb3k2x1",
};

export const reportedClient = {
  id: Type.String({
    pattern: clientIdPattern,
    description:
      "Random, of each start of the program; the same as in `X-Halyard-Client` of its stream and its polls.",
    "x-must-be": "8 to 64 letters, digits, - and _",
  }),
  name: Type.String({
    minLength: 1,
    maxLength: 128,
    pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
    description: "What people know the program by.",
    "x-must-be": "1 to 128 characters without control characters",
  }),
  sdk: Type.String({
    pattern: "^[A-Za-z0-9._/+-]{1,64}$",
    description: "Language and version of the SDK.",
    "x-must-be": "1 to 64 letters, digits and . _ / + -",
  }),
  revision: Type.String({
    pattern: "^[0-9]{1,15}-[0-9a-z]{1,11}$",
    description:
      "What it has applied: the id of the last event of the stream, or the ETag of the snapshot without its quotes.",
    "x-must-be": "the id of an event of the stream, or the ETag of a snapshot",
  }),
};

export const ReportedClient = closedObject(reportedClient, {
  examples: [reportedClientExample],
  description: "The program that reports, if it evaluates by itself.",
});

/** Only who may follow the flags can have applied them: from others it would be invented. */
export const takeReport = (
  clients: Clients,
  principal: Principal,
  report: ClientReport,
  isBeside = false,
): void => {
  if (!may(principal, "flags.follow")) return;
  const { keyId, environment } = principal;
  clients.reports({ environmentId: environment.id, keyId }, report, isBeside);
};
