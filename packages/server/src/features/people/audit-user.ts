// Adds a line about a person to the audit log, which is written once the transaction is committed.
import type { Tx } from "../../platform/database/db.ts";

export const auditUser = ({ signal }: Tx, action: string, id: string): void => {
  signal.audit.push({ actions: [`user.${action}`], subject: "user", id });
};
