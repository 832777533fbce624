// One job of those that people come to the page for.
import type { JobServer } from "./data.ts";
import type { Person } from "./person.ts";

export interface Job {
  readonly name: string;
  readonly environment: "development" | "production";
  /** Begins at the list of flags, signed in; ends when the page shows that it is done. */
  readonly work: (person: Person, at: JobServer) => Promise<void>;
  /** Fails unless the server has what the job was about. */
  readonly check?: (at: JobServer) => Promise<void>;
}
