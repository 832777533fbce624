// A line of the audit log.
import type { Actor, Review } from "../auth/principal.ts";

export interface AuditLine {
  readonly actions: readonly string[];
  /** Undefined for what concerns no environment, or all of them. */
  readonly environmentId?: number;
  readonly subject: string;
  readonly id: string;
  readonly actor?: Actor;
  readonly reason?: string;
  readonly changeRequest?: Review["changeRequest"];
  readonly bypass?: Review["bypass"];
  readonly version?: number;
  readonly sequence?: number;
  readonly deliveries?: number;
}
