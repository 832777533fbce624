// Programs that evaluate flags: what they ask with is what a preview knows.
import assert from "node:assert/strict";

/** So many requests at a time. */
const atOnce = 16;

export const sendTraffic = async (
  url: string,
  key: string,
  flag: string,
  contexts: readonly object[],
): Promise<readonly unknown[]> => {
  const answers: unknown[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    for (;;) {
      const index = next;
      next += 1;
      const context = contexts[index];
      if (context === undefined) return;
      const response = await fetch(`${url}/ofrep/v1/evaluate/flags/${flag}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ context }),
      });
      const body = (await response.json()) as { readonly value?: unknown };
      assert.ok(response.status < 500, JSON.stringify(body));
      answers[index] = body.value;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return answers;
};

/** What programs that evaluate by themselves report: as good for the sample, and a request for a hundred. */
export const reportTraffic = async (
  url: string,
  key: string,
  flag: string,
  contexts: readonly object[],
): Promise<void> => {
  for (let begin = 0; begin < contexts.length; begin += 100) {
    const part = contexts.slice(begin, begin + 100);
    const response = await fetch(`${url}/api/v1/usage`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        evaluations: [{ key: flag, on: part.length, off: 0 }],
        contexts: part,
      }),
    });
    assert.equal(response.status, 204, await response.text());
  }
};

export const people = (
  count: number,
  rest: (index: number) => object = () => ({}),
): readonly object[] =>
  Array.from({ length: count }, (_, index) => ({ targetingKey: `user-${index}`, ...rest(index) }));
