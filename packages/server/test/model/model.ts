// The service as a model that is simple enough to be seen right, and what random calls to it are made of.
import fc from "fast-check";
import type { Api } from "../support/api.ts";

export interface Flag {
  readonly key: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly percentage?: number;
  readonly description: string | null;
}

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly active: boolean;
  /** Absent when it is off. */
  readonly cloudEvents?: boolean;
}

export class Model {
  readonly flags = new Map<string, Flag>();
  /** How often each key was changed, deleted flags included. */
  readonly versions = new Map<string, number>();
  readonly events: (readonly [type: string, key: string, version: number])[] = [];
  readonly webhooks = new Map<string, Webhook>();
  /** For each webhook the sequence numbers of what was queued for it. */
  readonly queued = new Map<string, number[]>();
  revision = 0;

  change(key: string, after: Flag | undefined, ...types: string[]): void {
    if (types.length === 0) return;
    const version = (this.versions.get(key) ?? 0) + 1;
    this.versions.set(key, version);
    this.revision += 1;
    if (after) this.flags.set(key, after);
    else this.flags.delete(key);
    for (const type of types) {
      this.events.push([type, key, version]);
      for (const { id, active, events } of this.webhooks.values()) {
        const wanted = active && (events.includes("*") || events.includes(type));
        if (wanted) this.queued.get(id)?.push(this.events.length);
      }
    }
  }

  sorted(): Flag[] {
    return [...this.flags.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}

export type Command = fc.AsyncCommand<Model, Api>;
type Run<T> = (model: Model, admin: Api, input: T) => Promise<void>;

export const command = <T>(
  name: string,
  input: fc.Arbitrary<T>,
  run: Run<T>,
): fc.Arbitrary<Command> =>
  input.map((value) => ({
    check: () => true,
    run: (model, admin) => run(model, admin, value),
    toString: () => `${name}(${fc.stringify(value)})`,
  }));

/** Three times as likely as the others: what fills the environment, so that there is something to ask for. */
export const often = (made: fc.Arbitrary<Command>): fc.Arbitrary<Command>[] => [made, made, made];

interface Field {
  readonly valid: boolean;
  readonly value: unknown;
}
export const field = (good: readonly unknown[], bad: readonly unknown[]): fc.Arbitrary<Field> =>
  fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...good).map((value) => ({ valid: true, value })) },
    { weight: 1, arbitrary: fc.constantFrom(...bad).map((value) => ({ valid: false, value })) },
  );
export const maybe = (input: fc.Arbitrary<Field>): fc.Arbitrary<Field> =>
  fc.oneof(fc.constant({ valid: true, value: undefined }), input);

/** A body and whether it is valid in itself. A field that is undefined is not sent. */
export const bodyOf = <Name extends string>(fields: Readonly<Record<Name, fc.Arbitrary<Field>>>) =>
  fc.record({ ...fields, unknown: field([undefined], [1]) }).map((chosen) => {
    const entries = Object.entries<Field>(chosen).filter(([, { value }]) => value !== undefined);
    return {
      valid: Object.values<Field>(chosen).every(({ valid }) => valid),
      body: Object.fromEntries(entries.map(([name, { value }]) => [name, value])),
    };
  });
