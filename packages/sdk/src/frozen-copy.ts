// Values that programs receive, protected from changes: the same value is returned by every later evaluation.

/** A deep copy of a value as JSON has it, frozen. */
export const frozenCopy = <Value>(value: Value): Value => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as Value;
  const copy = { ...value };
  for (const name in copy) copy[name] = frozenCopy(copy[name]);
  return Object.freeze(copy);
};
