// The second factor of a person: turned on with a first code, turned off, and asked for at every sign-in with a password.

import type { Session, Sessions } from "../../../platform/auth/sessions.ts";
import type { Clock, RandomBytes, Store, Transaction } from "../../../platform/database/store.ts";
import {
  conflict,
  type Failure,
  fail,
  notFound,
  ok,
  type Result,
} from "../../../platform/errors.ts";
import { findUser } from "../queries.ts";
import type { Credentials } from "./credentials.ts";
import {
  findCredentials,
  setRecoveryCodes,
  setSecondFactor,
  takeCodeStep,
  takeRecoveryCode,
} from "./queries.ts";
import {
  appCode,
  base32,
  newRecoveryCode,
  newSecret,
  recoveryCodeCount,
  recoveryCodeHash,
  secretUri,
  stepOf,
} from "./totp.ts";

const codeFailure = (message: string): Failure => ({
  code: "UNAUTHORIZED",
  message: `This account has a second factor: the code ${message}.`,
  details: [{ field: "code", message }],
});
/** Not wrong yet: the page asks for the code when it learns that there is one. */
export const codeNeeded = codeFailure("of your app, or a recovery code, is needed");
const wrong = codeFailure("is wrong or was used before");

/** Whether the code is good; from now on it is not. Undefined when none is needed, or it is. */
export const refuseCode = async (
  transaction: Transaction,
  userId: string,
  { secondFactor }: Credentials,
  code: string | undefined,
  now: Date,
): Promise<Failure | undefined> => {
  if (!secondFactor?.isOn) return undefined;
  if (code === undefined || code === "") return codeNeeded;
  const typed = appCode(code);
  if (typed === undefined) {
    const hash = recoveryCodeHash(userId, code);
    return (await takeRecoveryCode(transaction, userId, hash)) ? undefined : wrong;
  }
  const step = stepOf(secondFactor.secret, typed, now);
  return step !== undefined && (await takeCodeStep(transaction, userId, step)) ? undefined : wrong;
};

export interface SecondFactors {
  /** A secret for an app. It counts for nothing before `turnOn`. */
  begin(userId: string): Promise<Result<{ readonly secret: string; readonly uri: string }>>;
  /** With the first code of the app: the recovery codes, and the session under a new token. */
  turnOn(
    userId: string,
    session: Session,
    code: string,
  ): Promise<Result<{ readonly recoveryCodes: readonly string[]; readonly session: Session }>>;
  /** The session under a new token. */
  turnOff(userId: string, session: Session): Promise<Result<Session>>;
  /** In the place of those before. */
  newRecoveryCodes(userId: string): Promise<Result<readonly string[]>>;
}

/** What apps show the codes under. */
const issuer = "Halyard";
const isOnAlready = "You have a second factor; turn it off before you set up another one.";
const isOff = "You have no second factor.";

export const createSecondFactors = (
  store: Store,
  {
    clock,
    random,
    sessions,
  }: {
    readonly clock: Clock;
    readonly random: RandomBytes;
    readonly sessions: Sessions;
  },
): SecondFactors => {
  const giveCodes = async (transaction: Transaction, userId: string): Promise<string[]> => {
    const codes = Array.from({ length: recoveryCodeCount }, () => newRecoveryCode(random));
    const hashes = codes.map((code) => recoveryCodeHash(userId, code));
    await setRecoveryCodes(transaction, userId, hashes);
    return codes;
  };

  return {
    begin: (userId) =>
      store.transact(async (transaction) => {
        const user = await findUser(transaction, userId);
        const credentials = await findCredentials(transaction, userId);
        if (!user || !credentials) return notFound("The person", userId);
        if (credentials.password === null) {
          return conflict("A second factor is for those who sign in with a password.");
        }
        if (credentials.secondFactor?.isOn) return conflict(isOnAlready);
        const secret = newSecret(random);
        await setSecondFactor(transaction, userId, secret);
        const uri = secretUri(secret, issuer, user.email ?? user.name);
        return ok({ secret: base32(secret), uri });
      }),

    turnOn: (userId, session, code) =>
      store.transact(async (transaction) => {
        const now = clock();
        const credentials = await findCredentials(transaction, userId);
        const pending = credentials?.secondFactor;
        if (!pending) return conflict(isOff);
        if (pending.isOn) return conflict(isOnAlready);
        const typed = appCode(code);
        const step = typed === undefined ? undefined : stepOf(pending.secret, typed, now);
        if (step === undefined || !(await takeCodeStep(transaction, userId, step))) {
          return fail({
            code: "VALIDATION_FAILED",
            message: "The code is wrong; does the clock of your device run right?",
            details: [{ field: "code", message: "is wrong" }],
          });
        }
        const recoveryCodes = await giveCodes(transaction, userId);
        // Other sessions began without it.
        await sessions.endOthers(session, transaction);
        const renewed = await sessions.renew(session, {}, transaction);
        return ok({ recoveryCodes, session: renewed });
      }),

    turnOff: (userId, session) =>
      store.transact(async (transaction) => {
        const credentials = await findCredentials(transaction, userId);
        if (!credentials?.secondFactor?.isOn) return conflict(isOff);
        await setSecondFactor(transaction, userId, null);
        return ok(await sessions.renew(session, {}, transaction));
      }),

    newRecoveryCodes: (userId) =>
      store.transact(async (transaction) => {
        const credentials = await findCredentials(transaction, userId);
        if (!credentials?.secondFactor?.isOn) return conflict(isOff);
        return ok(await giveCodes(transaction, userId));
      }),
  };
};
