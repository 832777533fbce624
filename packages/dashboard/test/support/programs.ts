// A program with the SDK that can be held up: then it reads nothing of what its stream carries, and lags.
import { createClient } from "@halyard/sdk";

export interface Program {
  holdUp(): void;
  goOn(): void;
  close(): Promise<void>;
}

export const startProgram = async (url: string, key: string, name: string): Promise<Program> => {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const fetchHeld: typeof globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!response.url.endsWith("/stream")) return response;
    const held = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        await gate.promise;
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(held) ?? null, response);
  };
  const client = createClient({ url, key, name, fetch: fetchHeld });
  await client.ready();
  return {
    holdUp() {
      gate = Promise.withResolvers<void>();
    },
    goOn: () => gate.resolve(),
    async close() {
      gate.resolve();
      await client.close();
    },
  };
};
