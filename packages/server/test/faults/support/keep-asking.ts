// Sends every kind of request to an instance while its PostgreSQL goes away and comes back.
import { setTimeout as wait } from "node:timers/promises";
import { bearer } from "../../support/event-reader.ts";

export const key = "a-key-that-outlives-every-outage";
export const flags = ["flag-0", "flag-1", "flag-2", "flag-3"];

export interface Asked {
  readonly what: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly took: number;
}

interface AnsweredChange {
  readonly flag: string;
  readonly version: number;
  readonly description: string;
}

interface Subject {
  readonly url: string;
  readonly name: string;
  readonly longestWait: number;
  /** Milliseconds from an answer to the next request of the same kind. */
  readonly pause: number;
}

/** Asks one instance for everything, over and over, until told to stop; a request without an answer in time rejects. */
export const keepAsking = ({ url, name, longestWait, pause }: Subject, isOver: () => boolean) => {
  const asked: Asked[] = [];
  const changes: AnsweredChange[] = [];
  const ask = async (what: string, method: string, path: string, body?: object, as = key) => {
    const started = performance.now();
    const response = await fetch(url + path, {
      method,
      headers: { ...bearer(as), ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(longestWait),
    }).catch((error: unknown) => {
      throw new Error(`${what} of ${name} after ${Math.round(performance.now() - started)} ms`, {
        cause: error,
      });
    });
    const text = await response.text();
    const { status, headers } = response;
    const took = performance.now() - started;
    asked.push({ what, status, retryAfter: headers.get("retry-after"), took });
    return { status, text, tag: headers.get("etag") };
  };
  const again = async (work: (count: number) => Promise<unknown>) => {
    for (let count = 1; !isOver(); count += 1) {
      await work(count);
      await wait(pause);
    }
  };
  const context = { context: { targetingKey: "somebody" } };
  const all = [
    ...flags.map((flag) =>
      again(async (count) => {
        const description = `${name} ${count}`;
        const path = `/api/v1/flags/${flag}`;
        const { status, tag } = await ask("PATCH", "PATCH", path, { description });
        if (status !== 200) return;
        changes.push({ flag, version: Number(tag?.replaceAll('"', "")), description });
      }),
    ),
    again(() => ask("GET", "GET", "/api/v1/flags/flag-0")),
    again(() => ask("list", "GET", "/api/v1/flags")),
    again(() => ask("history", "GET", "/api/v1/flags/flag-0/history?limit=5")),
    again(() => ask("webhooks", "GET", "/api/v1/webhooks")),
    again((count) => ask("POST", "POST", "/api/v1/keys", { name: `${count}`, role: "client" })),
    again(() => ask("unknown key", "GET", "/api/v1/flags", undefined, "a-key-that-nobody-has")),
    again(() => ask("evaluation", "POST", "/ofrep/v1/evaluate/flags/flag-0", context)),
    again(() => ask("evaluation", "POST", "/ofrep/v1/evaluate/flags", context)),
    again(() => ask("readyz", "GET", "/readyz")),
    again(() => ask("healthz", "GET", "/healthz")),
  ];
  return { asked, changes, done: Promise.all(all) };
};
