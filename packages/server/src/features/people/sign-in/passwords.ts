// Hashes of passwords: argon2id, off the event loop, and only a few at once.
import { argon2, timingSafeEqual } from "node:crypto";
import type { RandomBytes } from "../../../platform/database/store.ts";
import { fail, ok, type Result } from "../../../platform/errors.ts";
import { passwordText } from "./password-rules.ts";

/** What OWASP recommends: 19 MiB, two passes, one lane. A hash with others is made again at the next sign-in. */
const parameters = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const [saltLength, tagLength] = [16, 32];

/** Each takes 19 MiB and one of the four threads that also resolve names. */
const maxAtOnce = 2;
/** A few seconds' worth; whoever comes after them is told to come again. */
const maxWaiting = 100;

export interface Verdict {
  readonly isRight: boolean;
  /** It was hashed with other parameters than those of today. */
  readonly isOutdated: boolean;
}

export interface Passwords {
  /** With the parameters, in the PHC format. Fails when too many wait. */
  hash(password: string): Promise<Result<string>>;
  /** Takes as long for somebody who has no password, or does not exist: null. */
  verify(password: string, hash: string | null): Promise<Result<Verdict>>;
}

interface Parsed {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly salt: Uint8Array;
  readonly tag: Uint8Array;
}

const base64 = { omitPadding: true } as const;

const textOf = ({ memory, passes, parallelism, salt, tag }: Parsed): string =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${salt.toBase64(base64)}$${tag.toBase64(base64)}`;

const parse = (text: string): Parsed => {
  const [, memory, passes, parallelism, salt, tag] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(text) ?? [];
  if (salt === undefined || tag === undefined) {
    throw new Error("A stored password is not a hash of argon2id.");
  }
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Uint8Array.fromBase64(salt),
    tag: Uint8Array.fromBase64(tag),
  };
};

const compute = (
  password: string,
  { memory, passes, parallelism, salt, tag }: Parsed,
): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const message = new TextEncoder().encode(passwordText(password));
    const options = { message, nonce: salt, memory, passes, parallelism, tagLength: tag.length };
    argon2("argon2id", options, (error, computed) => (error ? reject(error) : resolve(computed)));
  });

const tooMany: Result<never> = fail({
  code: "UNAVAILABLE",
  message: "Too many people sign in at the same moment; try again.",
});

export const createPasswords = (random: RandomBytes): Passwords => {
  const waiting: (() => void)[] = [];
  let running = 0;

  const inTurn = async <T>(work: () => Promise<T>): Promise<Result<T>> => {
    if (running >= maxAtOnce) {
      if (waiting.length >= maxWaiting) return tooMany;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    } else running += 1;
    try {
      return ok(await work());
    } finally {
      // The turn is handed on, so that nobody slips in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };

  const fresh = (): Parsed => ({
    ...parameters,
    salt: random(saltLength),
    tag: new Uint8Array(tagLength),
  });
  /** The password of nobody: no tag is all zeros. */
  const nobody = fresh();

  return {
    hash(password) {
      const blank = fresh();
      return inTurn(async () => textOf({ ...blank, tag: await compute(password, blank) }));
    },

    verify(password, hash) {
      const stored = hash === null ? nobody : parse(hash);
      return inTurn(async () => {
        const isSame = timingSafeEqual(await compute(password, stored), stored.tag);
        return {
          isRight: isSame && hash !== null,
          isOutdated:
            stored.memory !== parameters.memory ||
            stored.passes !== parameters.passes ||
            stored.parallelism !== parameters.parallelism,
        };
      });
    },
  };
};

/** Whether many people use it, in small letters. The list is loaded with the first question. */
export const loadCommonPasswords = async (): Promise<(text: string) => boolean> => {
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  const common = new Set<string | number>(dictionary["passwords-common"]);
  return (text) => common.has(text);
};
