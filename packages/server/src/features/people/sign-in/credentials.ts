// What people prove with who they are, as a store keeps it.

export interface Credentials {
  /** The argon2id hash, with its parameters; null for those who have none. */
  readonly password: string | null;
  /** Null when there is none. One whose first code was not shown yet is not on. */
  readonly secondFactor: SecondFactor | null;
}

export interface SecondFactor {
  readonly secret: Uint8Array;
  readonly isOn: boolean;
  /** How many of the recovery codes are left. */
  readonly recoveryCodes: number;
}

export interface CredentialReads {
  /** In a transaction: locked until its end. */
  credentials(userId: string): Promise<Credentials | undefined>;
}

/** The part of a transaction that stores them. */
export interface CredentialWrites {
  setPassword(userId: string, hash: string): Promise<void>;
  /** A second factor that is not on yet; null removes what there is. */
  setSecondFactor(userId: string, secret: Uint8Array | null): Promise<void>;
  /** In the place of those before. With them the second factor is on. */
  setRecoveryCodes(userId: string, hashes: readonly string[]): Promise<void>;
  /** Whether no code of this time step, or of a later one, was used before. */
  takeCodeStep(userId: string, step: number): Promise<boolean>;
  /** Whether there was such a recovery code; from now on there is none. */
  takeRecoveryCode(userId: string, hash: string): Promise<boolean>;
}
