// Protects values from changes by the program: later evaluations return the same objects.

/** A deep copy of a JSON value, frozen at every depth. */
export const frozenCopy = <Value>(value: Value): Value => {
  if (Object(value) !== value) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as Value;
  const copy = { ...value };
  for (const name in copy) copy[name] = frozenCopy(copy[name]);
  return Object.freeze(copy);
};
