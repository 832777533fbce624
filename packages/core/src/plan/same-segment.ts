// Whether two segments are the same, however their lists are ordered.
import { isSameValue } from "../difference.ts";
import type { Segment } from "../targeting/segment.ts";

/** The one form of equal segments. A file may leave out what is empty. */
export const orderSegment = ({ key, description, include, exclude, when }: Segment): Segment => ({
  key,
  description: description ?? null,
  include: [...(include ?? [])].sort(),
  exclude: [...(exclude ?? [])].sort(),
  when: when ?? null,
});

export const isSameSegment = (one: Segment, other: Segment): boolean =>
  isSameValue(orderSegment(one), orderSegment(other));
