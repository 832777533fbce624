// The event emitter that OpenFeature requires of a provider, without a runtime import of its SDK.
import type { AnyProviderEvent, EventContext, EventHandler, Logger } from "@openfeature/core";

export class ProviderEvents {
  readonly #handlers = new Map<AnyProviderEvent, EventHandler[]>();
  #logger: Logger | undefined;

  emit(eventType: AnyProviderEvent, context?: EventContext): void {
    for (const handler of this.getHandlers(eventType)) {
      try {
        void Promise.resolve(handler(context as never)).catch((cause: unknown) =>
          this.#logger?.error("a handler of a provider event failed", cause),
        );
      } catch (cause) {
        this.#logger?.error("a handler of a provider event failed", cause);
      }
    }
  }

  addHandler(eventType: AnyProviderEvent, handler: EventHandler): void {
    this.#handlers.set(eventType, [...this.getHandlers(eventType), handler]);
  }

  removeHandler(eventType: AnyProviderEvent, handler: EventHandler): void {
    const others = this.getHandlers(eventType).filter((known) => known !== handler);
    this.#handlers.set(eventType, others);
  }

  removeAllHandlers(eventType?: AnyProviderEvent): void {
    if (eventType === undefined) this.#handlers.clear();
    else this.#handlers.delete(eventType);
  }

  getHandlers(eventType: AnyProviderEvent): EventHandler[] {
    return this.#handlers.get(eventType) ?? [];
  }

  setLogger(logger: Logger): this {
    this.#logger = logger;
    return this;
  }
}
