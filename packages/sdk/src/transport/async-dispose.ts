// The symbol by which `await using` closes a client.

/** For runtimes without the symbol, compilers translate `await using` with the registered symbol of this name. */
export const asyncDispose: typeof Symbol.asyncDispose =
  (Symbol as Partial<SymbolConstructor>).asyncDispose ??
  (Symbol.for("Symbol.asyncDispose") as typeof Symbol.asyncDispose);
