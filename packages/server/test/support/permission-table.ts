// Which keys and which people may use which operation: written by hand, to compare the server with.
export const keyRoles = ["client", "server", "editor", "admin", "owner"] as const;
export const personRoles = ["viewer", "editor", "admin", "owner"] as const;

/** Keys and people, each by role; everybody else is refused with 403. */
export interface Allowed {
  readonly keys: readonly (typeof keyRoles)[number][];
  /** Undefined where nobody comes with a session: then they are refused with 401. */
  readonly people: readonly (typeof personRoles)[number][] | undefined;
}
const everybody: Allowed = { keys: keyRoles, people: personRoles };
const keysAlone: Allowed = { keys: keyRoles, people: undefined };
const readers: Allowed = { keys: ["server", "editor", "admin", "owner"], people: personRoles };
const readerKeys: Allowed = { ...readers, people: undefined };
const editorKeys: Allowed = { keys: ["editor", "admin", "owner"], people: undefined };
const editors: Allowed = {
  keys: ["editor", "admin", "owner"],
  people: ["editor", "admin", "owner"],
};
const admins: Allowed = { keys: ["admin", "owner"], people: ["admin", "owner"] };
const owners: Allowed = { keys: ["owner"], people: ["owner"] };
const peopleAlone: Allowed = { keys: [], people: personRoles };

export const permissionTable: Readonly<Record<string, readonly [permission: string, Allowed]>> = {
  "POST /ofrep/v1/evaluate/flags": ["flags.evaluate", keysAlone],
  "POST /ofrep/v1/evaluate/flags/{key}": ["flags.evaluate", keysAlone],
  "GET /openfeature/v0/manifest": ["flags.read", readerKeys],
  "POST /openfeature/v0/manifest/flags": ["flags.write", editorKeys],
  "PUT /openfeature/v0/manifest/flags/{key}": ["flags.write", editorKeys],
  "DELETE /openfeature/v0/manifest/flags/{key}": ["flags.write", editorKeys],
  "POST /api/v1/usage": ["usage.report", everybody],
  "POST /api/v1/clients": ["flags.follow", readers],
  "GET /api/v1/clients": ["clients.read", readers],
  "GET /api/v1/key": ["key.show", everybody],
  "GET /api/v1/flags": ["flags.read", readers],
  "GET /api/v1/flags/{key}": ["flags.read", readers],
  "POST /api/v1/flags/{key}/explain": ["flags.explain", readers],
  "GET /api/v1/stream": ["flags.follow", readers],
  "GET /api/v1/snapshot": ["flags.follow", readers],
  "GET /flagd/v1/flags.json": ["flags.follow", readerKeys],
  "GET /api/v1/segments": ["segments.read", readers],
  "GET /api/v1/segments/{key}": ["segments.read", readers],
  "GET /api/v1/segments/{key}/flags": ["segments.read", readers],
  "GET /api/v1/flags/{key}/history": ["history.read", readers],
  "GET /api/v1/history": ["history.read", readers],
  "GET /api/v1/history/export": ["history.read", readers],
  "GET /api/v1/history/verification": ["history.read", readers],
  "GET /api/v1/events": ["history.read", readers],
  "GET /api/v1/usage": ["usage.read", readers],
  "GET /api/v1/usage/errors": ["usage.read", readers],
  "GET /api/v1/flags/{key}/usage": ["usage.read", readers],
  "GET /api/v1/webhooks": ["webhooks.read", readers],
  "GET /api/v1/webhooks/{id}": ["webhooks.read", readers],
  "GET /api/v1/webhook-health": ["webhooks.read", readers],
  "GET /api/v1/webhooks/{id}/health": ["webhooks.read", readers],
  "GET /api/v1/webhooks/{id}/deliveries": ["webhooks.read", readers],
  "GET /api/v1/webhooks/{id}/deliveries/{deliveryId}": ["webhooks.read", readers],
  "GET /api/v1/webhooks/{id}/replay": ["webhooks.read", readers],
  "POST /api/v1/flags": ["flags.write", editors],
  "PATCH /api/v1/flags/{key}": ["flags.write", editors],
  "DELETE /api/v1/flags/{key}": ["flags.write", editors],
  "POST /api/v1/changes": ["flags.write", editors],
  "POST /api/v1/preview": ["flags.preview", editors],
  "POST /api/v1/flags/{key}/preview": ["flags.preview", editors],
  "POST /api/v1/segments/{key}/preview": ["flags.preview", editors],
  "POST /api/v1/segments": ["segments.write", editors],
  "PATCH /api/v1/segments/{key}": ["segments.write", editors],
  "DELETE /api/v1/segments/{key}": ["segments.write", editors],
  "POST /api/v1/segments/{key}/members": ["segments.write", editors],
  "GET /api/v1/change-requests": ["change-requests.read", readers],
  "GET /api/v1/change-requests/{id}": ["change-requests.read", readers],
  "POST /api/v1/change-requests": ["flags.write", editors],
  "PATCH /api/v1/change-requests/{id}": ["flags.write", editors],
  "POST /api/v1/change-requests/{id}/withdraw": ["flags.write", editors],
  "POST /api/v1/change-requests/{id}/rebase": ["flags.write", editors],
  "POST /api/v1/change-requests/{id}/approve": ["change-requests.review", editors],
  "POST /api/v1/change-requests/{id}/refuse": ["change-requests.review", editors],
  "POST /api/v1/change-requests/{id}/apply": ["change-requests.review", editors],
  "POST /api/v1/change-requests/{id}/comments": ["change-requests.review", editors],
  "POST /api/v1/change-requests/{id}/bypass": ["environments.write", owners],
  "POST /api/v1/webhooks": ["webhooks.write", admins],
  "PATCH /api/v1/webhooks/{id}": ["webhooks.write", admins],
  "DELETE /api/v1/webhooks/{id}": ["webhooks.write", admins],
  "POST /api/v1/webhooks/{id}/test": ["webhooks.write", admins],
  "POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/replay": ["webhooks.write", admins],
  "POST /api/v1/webhooks/{id}/retry": ["webhooks.write", admins],
  "POST /api/v1/webhooks/{id}/secret/rotate": ["webhooks.write", admins],
  "POST /api/v1/webhooks/{id}/replay": ["webhooks.write", admins],
  "DELETE /api/v1/webhooks/{id}/replay": ["webhooks.write", admins],
  "GET /api/v1/keys": ["keys.read", admins],
  "POST /api/v1/keys": ["keys.write", admins],
  "DELETE /api/v1/keys/{id}": ["keys.write", admins],
  "GET /api/v1/environments": ["environments.read", readers],
  "POST /api/v1/environments": ["environments.write", owners],
  "PATCH /api/v1/environments/{name}": ["environments.write", owners],
  "DELETE /api/v1/environments/{name}": ["environments.write", owners],
  "GET /api/v1/users": ["users.read", owners],
  "POST /api/v1/users": ["users.write", owners],
  "PATCH /api/v1/users/{id}": ["users.write", owners],
  "DELETE /api/v1/users/{id}": ["users.write", owners],
  "POST /api/v1/users/{id}/invitation": ["users.write", owners],
  "POST /api/v1/users/{id}/linked": ["users.write", owners],
  "DELETE /api/v1/users/{id}/linked": ["users.write", owners],

  "GET /api/v1/personal-keys": ["personal-keys.read", peopleAlone],
  "POST /api/v1/personal-keys": ["personal-keys.write", peopleAlone],
  "DELETE /api/v1/personal-keys/{id}": ["personal-keys.write", peopleAlone],
};
