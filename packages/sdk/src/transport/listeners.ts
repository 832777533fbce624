// Event listeners. An error in one is reported, and affects neither the others nor the emitter.

export interface Listeners<Events> {
  /** Returns the function that removes the listener. */
  readonly on: <Name extends keyof Events>(
    name: Name,
    listener: (event: Events[Name]) => unknown,
  ) => () => void;
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void;
  clear(): void;
}

export const createListeners = <Events>(
  onError: (name: string, cause: unknown) => void,
): Listeners<Events> => {
  const lists = new Map<keyof Events, Set<{ readonly run: (event: never) => unknown }>>();
  return {
    on(name, listener) {
      const list = lists.get(name) ?? new Set();
      lists.set(name, list);
      // Wrapped, so that the same function can be added twice and removed once.
      const entry = { run: listener };
      list.add(entry);
      return () => void list.delete(entry);
    },
    emit(name, event) {
      for (const { run } of [...(lists.get(name) ?? [])]) {
        try {
          const result = run(event as never);
          if (result instanceof Promise)
            result.catch((cause: unknown) => onError(String(name), cause));
        } catch (cause) {
          onError(String(name), cause);
        }
      }
    },
    clear() {
      lists.clear();
    },
  };
};
