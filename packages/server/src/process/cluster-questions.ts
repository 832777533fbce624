// What a worker asks of all workers: it asks the primary process, which asks them all.
import type { Worker } from "node:cluster";
import type { Order, Question, Report } from "./cluster-messages.ts";

/** Milliseconds. */
const timeout = 2_000;

type QuestionReport = Extract<Report, { kind: "ask all" | "answer" }>;
type Answers = Pick<Extract<Order, { kind: "answers" }>, "answers" | "isComplete">;

/** The primary's part. */
export const createQuestionRounds = (
  serving: () => Iterable<Worker>,
  send: (worker: Worker, order: Order) => void,
) => {
  interface Round {
    readonly missing: Set<Worker>;
    readonly answers: unknown[];
    end(): void;
  }
  const rounds = new Map<number, Round>();
  let last = 0;

  const begin = (asker: Worker, request: number, question: Question): void => {
    last += 1;
    const number = last;
    const missing = new Set(serving());
    const answers: unknown[] = [];
    const end = (): void => {
      clearTimeout(timer);
      rounds.delete(number);
      send(asker, { kind: "answers", request, answers, isComplete: missing.size === 0 });
    };
    const timer = setTimeout(end, timeout).unref();
    rounds.set(number, { missing, answers, end });
    for (const worker of missing) send(worker, { kind: "ask", round: number, question });
  };

  const leave = (round: Round, worker: Worker): void => {
    if (round.missing.delete(worker) && round.missing.size === 0) round.end();
  };

  return {
    receive(worker: Worker, report: QuestionReport): void {
      if (report.kind === "ask all") {
        begin(worker, report.request, report.question);
        return;
      }
      const round = rounds.get(report.round);
      if (!round) return;
      round.answers.push(report.answer);
      leave(round, worker);
    },
    /** No round waits for a worker that has ended. */
    remove(worker: Worker): void {
      for (const round of rounds.values()) leave(round, worker);
    },
  };
};

const noAnswers: Answers = { answers: [], isComplete: false };

/** A worker's part. */
export const createQuestions = (report: (message: Report) => Promise<void>) => {
  const requests = new Map<number, (answers: Answers) => void>();
  let last = 0;
  return {
    /** The answers of those that gave one in time. */
    async askAll(question: Question): Promise<Answers> {
      last += 1;
      const request = last;
      const { promise, resolve } = Promise.withResolvers<Answers>();
      requests.set(request, resolve);
      // The primary answers in any case, unless it has ended.
      const timer = setTimeout(resolve, 2 * timeout, noAnswers);
      try {
        await report({ kind: "ask all", request, question });
        return await promise;
      } finally {
        clearTimeout(timer);
        requests.delete(request);
      }
    },
    receive({ request, ...answers }: Extract<Order, { kind: "answers" }>): void {
      requests.get(request)?.(answers);
    },
  };
};
