// What to do about a failing webhook, judged by its last error.

const advice: readonly (readonly [error: RegExp, sentence: string])[] = [
  [
    /^answered (401|403)$/,
    "The receiver rejects the request: check that it verifies with the current secret.",
  ],
  [
    /^answered (3\d\d|404|405|410)\b/,
    "The receiver accepts no webhooks at this URL. When it has moved, create a webhook with its new URL.",
  ],
  [/^answered 429$/, "The receiver limits how many requests it accepts: raise its limit."],
  [/^answered 4/, "The receiver rejects the request: its response is with each delivery."],
  [/^answered 5/, "The receiver has an error of its own: check its log."],
  [
    /^no complete answer within/,
    "The receiver is too slow: it should accept the request first and do its work afterwards.",
  ],
  [/^the name/, "Check the host name in the URL and the DNS of this server."],
  [/^TLS/, "Check the receiver's certificate."],
  [/^refused/, "The operator of this server decides which addresses it may call."],
  [
    /^the answer/,
    "The receiver does not answer with correct HTTP: check what listens at this URL.",
  ],
];

export const adviceOnFailure = (error: string): string =>
  advice.find(([pattern]) => pattern.test(error))?.[1] ??
  "Check that the receiver is running and that this server can reach it.";
