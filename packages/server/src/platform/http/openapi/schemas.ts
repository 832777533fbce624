// The shapes that several routes answer with, by name.
import { flagSchemas } from "@halyard/core/flags/schemas";
import { type Static, type TObjectOptions, type TProperties, Type } from "typebox";
import { subscribableEvents } from "../../events.ts";

/** Without other members than these. */
export const closedObject = <T extends TProperties>(members: T, options?: TObjectOptions) =>
  Type.Object(members, { additionalProperties: false, ...options });
/** A value of this JSON type, or null. */
export const nullable = <T>(type: string, description: string) =>
  Type.Unsafe<T | null>({ type: [type, "null"], description });

/** Each type of flag has a name of its own: the types of a generated client are called by it. */
const named = Object.entries(flagSchemas).map(([type, schema]) => ({
  type,
  schema: { ...schema, $id: `${type.charAt(0).toUpperCase()}${type.slice(1)}Flag` },
}));
export const FlagSchemas = [
  ...named.map(({ schema }) => schema),
  {
    $id: "Flag",
    anyOf: named.map(({ schema }) => ({ $ref: `${schema.$id}#` })),
    discriminator: {
      propertyName: "type",
      mapping: Object.fromEntries(
        named.map(({ type, schema }) => [type, `#/components/schemas/${schema.$id}`]),
      ),
    },
  },
];
export const flagReference = { $ref: "Flag#" } as const;
export const flagExample = {
  key: "new-checkout",
  type: "rollout",
  enabled: true,
  percentage: 25,
  description: null,
};

/** Who made a change. */
export const Actor = closedObject({
  keyId: nullable<string>(
    "string",
    "The API key that was used; null for a person who was signed in, for the operator and for Halyard itself.",
  ),
  name: Type.String({ description: "The name of that key, or of the person." }),
  user: Type.Optional(
    closedObject(
      {
        id: Type.String({ description: "Of the form `usr_<id>`." }),
        name: Type.String({ description: "At the time of the change." }),
        email: Type.Optional(
          Type.String({ description: "In events alone, when HALYARD_EVENT_EMAILS is on." }),
        ),
      },
      { description: "The person who was signed in, or whose personal key it was." },
    ),
  ),
});

export const EventNames = Type.Array(
  Type.String({ "x-must-be": `one of ${subscribableEvents.join(", ")}` }),
  {
    minItems: 1,
    maxItems: 100,
    description: `Event names, or \`*\` for all: ${subscribableEvents.join(", ")}.`,
    "x-must-be": `a list of one or more of ${subscribableEvents.join(", ")}`,
  },
);

export const webhookFields = {
  id: Type.String({ description: "Of the form `wh_<id>`." }),
  url: Type.String({
    description:
      "The address that receives the callbacks. Keys below `admin` see its origin alone, with `/…` behind it if there is more.",
  }),
  events: EventNames,
  active: Type.Boolean({
    description: "Whether events are queued for it.",
    "x-must-be": "true or false",
  }),
  cloudEvents: Type.Optional(
    Type.Boolean({
      description:
        "Whether its requests have the headers of CloudEvents too. Absent when they do not.",
      "x-must-be": "true or false",
    }),
  ),
};
export const WebhookSchema = closedObject(
  { ...webhookFields, createdAt: Type.String({ description: "ISO 8601 in UTC." }) },
  { $id: "Webhook" },
);
export const webhookReference = { $ref: "Webhook#" } as const;
export const webhookExample = {
  id: "wh_2b1c4a90d7e85f3361aa04c9",
  url: "https://example.com/hooks/flags",
  events: ["flag.enabled", "flag.disabled"],
  active: true,
  createdAt: "2026-11-14T12:00:00.000Z",
};

export const noQuery = closedObject({});

export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description: "At most so many, with a Link to the next page.",
      "x-must-be": "a whole number from 1 to 1000",
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: "Where the page begins: taken from the Link of the page before.",
      "x-must-be": "the cursor of a Link header",
    }),
  ),
};

export const idempotencyKeyPattern = "^[ -~]{1,255}$";
export const idempotencyHeader = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      pattern: idempotencyKeyPattern,
      description:
        "Any text of your own, 1 to 255 characters. The same key and body within 24 hours gives the first answer again.",
    }),
  ),
});

/** What If-Match takes, for those who write clients. */
const ifMatchPattern = '^\\s*(\\*|(W/)?"[!#-~]*"(\\s*,\\s*(W/)?"[!#-~]*")*)\\s*,?\\s*$';
export const preconditionHeader = (what: "flag" | "segment" | "change request") =>
  Type.Object({
    "if-match": Type.Optional(
      Type.String({
        pattern: ifMatchPattern,
        description:
          what === "change request"
            ? "Only when it is as it was seen: its `digest` in double quotes."
            : `Only when the ${what} is at this version, such as \`"7"\`; the ETag of its last answer.`,
      }),
    ),
  });

export const freshnessHeader = Type.Object({
  "if-none-match": Type.Optional(
    Type.String({ description: "An ETag from before: 304 when nothing has changed since." }),
  ),
});

export const flagPath = Type.Object({
  key: Type.String({ description: "The flag's key.", examples: ["new-checkout"] }),
});
export const webhookPath = Type.Object({
  id: Type.String({ description: "The webhook's id, `wh_<id>`." }),
});
export const deliveryPath = Type.Object({
  ...webhookPath.properties,
  deliveryId: Type.String({ description: "The delivery's id, `dlv_<id>`." }),
});
export type FlagPath = Static<typeof flagPath>;
export type WebhookPath = Static<typeof webhookPath>;
export type DeliveryPath = Static<typeof deliveryPath>;
