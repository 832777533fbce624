// Compares segments, ignoring the order of their lists.
import { isSameValue } from "../difference.ts";
import type { Segment } from "../targeting/segment.ts";

/** The canonical form of equal segments. A file can leave out empty fields. */
export const orderSegment = ({ key, description, include, exclude, when }: Segment): Segment => ({
  key,
  description: description ?? null,
  include: [...(include ?? [])].sort(),
  exclude: [...(exclude ?? [])].sort(),
  when: when ?? null,
});

export const isSameSegment = (one: Segment, other: Segment): boolean =>
  isSameValue(orderSegment(one), orderSegment(other));
