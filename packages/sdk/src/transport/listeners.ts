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
  /** Objects, so that the same function can be added twice and removed once. */
  const listeners = new Set<{
    readonly name: keyof Events;
    readonly run: (event: never) => unknown;
  }>();
  return {
    on(name, run) {
      const listener = { name, run };
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    emit(name, event) {
      for (const listener of [...listeners]) {
        if (listener.name !== name) continue;
        const run = async () => listener.run(event as never);
        run().catch((cause: unknown) => onError(String(name), cause));
      }
    },
    clear() {
      listeners.clear();
    },
  };
};
