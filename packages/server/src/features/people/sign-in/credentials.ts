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
