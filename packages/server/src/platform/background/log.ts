// The log that background work writes to.

export interface WorkerLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
