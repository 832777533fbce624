// Environments as stored, how one is removed, and what is known of those that were.

export interface Environment {
  readonly id: number;
  readonly name: string;
  readonly createdAt: Date;
  readonly flagCount: number;
  /** What people call it; null for its name. */
  readonly label: string | null;
  /** What people tell it apart by; null for none. */
  readonly color: string | null;
  /** Whether changes need a second person. */
  readonly isProtected: boolean;
}

/** What is deleted together with an environment. */
export interface Contents {
  readonly flags: number;
  readonly webhooks: number;
  /** Those that are valid. */
  readonly keys: number;
}

export interface RemovedEnvironment extends Contents {
  readonly name: string;
  readonly beganAt: Date;
  /** Null while rows of it are left. */
  readonly endedAt: Date | null;
}

export interface EnvironmentWrites {
  insertEnvironment(name: string, at: Date): Promise<Environment>;
  /** Begins its removal, and records that: from now on neither its keys nor its webhooks work. */
  closeEnvironment(environment: Environment, at: Date): Promise<void>;
  /** Deletes at most `limit` rows of it and returns their number: 0 once it is gone itself. */
  deleteEnvironmentPart(id: number, limit: number, at: Date): Promise<number>;
}
