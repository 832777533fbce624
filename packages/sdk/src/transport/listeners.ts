// Listeners by the name of their event; one that throws harms neither the others nor the one who tells.

export interface Listeners<Events> {
  /** Gives back the function that ends it. */
  readonly on: <Name extends keyof Events>(
    name: Name,
    listener: (event: Events[Name]) => unknown,
  ) => () => void;
  tell<Name extends keyof Events>(name: Name, event: Events[Name]): void;
  clear(): void;
}

export const createListeners = <Events>(): Listeners<Events> => {
  const lists = new Map<keyof Events, Set<{ readonly run: (event: never) => unknown }>>();
  return {
    on(name, listener) {
      const list = lists.get(name) ?? new Set();
      lists.set(name, list);
      // Wrapped, so that the same function may listen twice and end once.
      const entry = { run: listener };
      list.add(entry);
      return () => void list.delete(entry);
    },
    tell(name, event) {
      for (const { run } of [...(lists.get(name) ?? [])]) {
        try {
          const result = run(event as never);
          if (result instanceof Promise) result.catch(() => undefined);
        } catch {
          // It is the listener's own affair.
        }
      }
    },
    clear() {
      lists.clear();
    },
  };
};
