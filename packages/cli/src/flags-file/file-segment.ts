// A segment in a file: the order and the checks of its fields.
import { checkSegment } from "@halyard/core/targeting/check-segment";
import { collectErrors } from "@halyard/core/targeting/mistakes";
import type { Segment } from "@halyard/core/targeting/segment";
import { answered, type Connection } from "../server-connection/connection.ts";
import type { Report } from "./check-fields.ts";
import type { Fields } from "./loose-values.ts";

/** Fetches all segments with their members. */
export const fetchSegments = async (connection: Connection): Promise<readonly Segment[]> => {
  const { segments } = connection.management;
  const found: Segment[] = [];
  const listed = await segments.list();
  // A server from before segments existed has none.
  if (!listed.ok && listed.error.code === "NOT_FOUND") return [];
  for (const { key } of answered(connection, listed)) {
    found.push(answered(connection, await segments.get(key)));
  }
  return found;
};

export const checkFileSegment = (entry: Fields, report: Report): void => {
  const errors = collectErrors();
  checkSegment(entry, errors, true);
  for (const { place, message } of errors.found) report(place, `"${place}" ${message}`);
};
