// Many clients that ask for everything there is, as fast as they are answered, and check every answer.
import { evaluate } from "@halyard/core/evaluate";
import { type Flag, prepare } from "@halyard/core/flags/registry";
import { type Answered, type Asked, type Connection, createConnection } from "./connection.ts";

export interface Hammered {
  readonly statuses: Readonly<Record<string, number>>;
  /** Answers that were not what they should have been. */
  readonly wrong: readonly string[];
  /** Milliseconds of the evaluations that were answered. */
  readonly evaluations: readonly number[];
}

export interface HammerDependencies {
  readonly url: string;
  readonly key: string;
  readonly connections: number;
  /** Flags that nobody changes meanwhile. */
  readonly fixed: readonly Flag[];
  readonly isOver: () => boolean;
  /** Milliseconds after which a client that was refused comes back. */
  readonly pause: number;
}

/** What the server must have answered; undefined when it is right. */
type Check = (answered: Answered) => string | undefined;
type Step = readonly [Asked, Check];

const refusals = new Set([429, 503]);
const kept = 20_000;

const expect =
  (status: number, isRight: (body: unknown) => boolean = () => true): Check =>
  ({ status: given, text }) =>
    given === status && isRight(text === "" ? undefined : JSON.parse(text))
      ? undefined
      : `${given} ${text.slice(0, 300)}`;

const isRefused = ({ status, head }: Answered): boolean =>
  refusals.has(status) && /\r\nretry-after: \d+/i.test(head);

export const hammer = async (dependencies: HammerDependencies): Promise<Hammered> => {
  const { url, key, fixed } = dependencies;
  const statuses: Record<string, number> = {};
  const wrong: string[] = [];
  const evaluations: number[] = [];
  let asked = 0;

  const evaluation = (): Step => {
    const flag = fixed[asked % fixed.length] as Flag;
    const targetingKey = `user-${asked}`;
    const evaluated = { key: flag.key, ...evaluate(prepare(flag), { targetingKey }) };
    // Over OFREP a flag that is off has the reason in its metadata.
    const right = flag.enabled
      ? evaluated
      : { ...evaluated, reason: "STATIC", metadata: { reason: "DISABLED" } };
    return [
      {
        method: "POST",
        path: `/ofrep/v1/evaluate/flags/${flag.key}`,
        key,
        body: { context: { targetingKey } },
      },
      expect(200, (body) => JSON.stringify(body) === JSON.stringify(right)),
    ];
  };
  const others: readonly Step[] = [
    [{ method: "GET", path: "/api/v1/flags?limit=20", key }, expect(200, Array.isArray)],
    [
      { method: "GET", path: `/api/v1/flags/${fixed[0]?.key}`, key },
      expect(200, (body) => JSON.stringify(body) === JSON.stringify(fixed[0])),
    ],
    [{ method: "GET", path: "/api/v1/history?limit=5", key }, expect(200)],
    [{ method: "GET", path: "/api/v1/webhooks", key }, expect(200, Array.isArray)],
    [{ method: "GET", path: "/api/v1/flags/not-there", key }, expect(404)],
    [{ method: "GET", path: "/api/v1/flags", key: "a-key-that-is-not-there" }, expect(401)],
    [{ method: "POST", path: "/api/v1/flags", key, body: { key: "-", type: "x" } }, expect(400)],
    [{ method: "POST", path: "/ofrep/v1/evaluate/flags", key, body: { context: {} } }, expect(200)],
    [
      { method: "GET", path: "/healthz" },
      ({ status }) => (status === 200 ? undefined : `health ${status}`),
    ],
  ];

  /** Gives the answer when there is one that is not a refusal. */
  const take = async (
    connection: Connection,
    [question, check]: Step,
  ): Promise<Answered | undefined> => {
    asked += 1;
    const answered = await connection.ask(question);
    const name = answered === "cut" ? answered : answered.status;
    statuses[name] = (statuses[name] ?? 0) + 1;
    if (answered === "cut" || (isRefused(answered) && question.path !== "/healthz")) {
      await new Promise((resolve) =>
        setTimeout(resolve, dependencies.pause * (0.5 + Math.random())),
      );
      return undefined;
    }
    const fault = check(answered);
    if (fault !== undefined) wrong.push(`${question.method} ${question.path}: ${fault}`);
    if (question.path.startsWith("/ofrep/") && evaluations.length < kept) {
      evaluations.push(answered.milliseconds);
    }
    return answered;
  };

  /** Changes a flag that is its own, and reads what it has written, by both ways. */
  const change = async (connection: Connection, flag: string, turn: number): Promise<void> => {
    const description = `turn ${turn}`;
    const path = `/api/v1/flags/${flag}`;
    const made = await take(connection, [
      { method: "PATCH", path, key, body: { description, enabled: turn % 2 === 0 } },
      expect(200, (body) => (body as Flag).description === description),
    ]);
    if (made?.status !== 200) return;
    await take(connection, [
      { method: "GET", path, key },
      expect(200, (body) => (body as Flag).description === description),
    ]);
    await take(connection, [
      { method: "POST", path: `/ofrep/v1/evaluate/flags/${flag}`, key, body: { context: {} } },
      expect(200, (body) => (body as { value: boolean }).value === (turn % 2 === 0)),
    ]);
  };

  const client = async (_: unknown, index: number): Promise<void> => {
    const connection = createConnection(url);
    const flag = `own-${index}`;
    let mine = false;
    for (let turn = index; !dependencies.isOver(); turn += 1) {
      if (turn % 10 === 0 && index % 5 === 0) {
        if (mine) await change(connection, flag, turn);
        else {
          const made = await take(connection, [
            { method: "POST", path: "/api/v1/flags", key, body: { key: flag, type: "boolean" } },
            ({ status }) => (status === 201 || status === 409 ? undefined : String(status)),
          ]);
          mine = made !== undefined;
        }
      } else if (turn % 3 === 0) await take(connection, others[asked % others.length] as Step);
      else await take(connection, evaluation());
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: dependencies.connections }, client));
  return { statuses, wrong, evaluations };
};
