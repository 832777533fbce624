// The OpenID Connect providers that docs/operate/single-sign-on.md shows, as the server reads them.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseConfig } from "../../packages/server/src/process/settings/config.ts";
import { read } from "./pages.ts";

/** The whole file of docs/operate/single-sign-on.md, and then each provider that it shows. */
export const readsProviders = (settings: Readonly<Record<string, string>>): void => {
  const page = read("docs/operate/single-sign-on.md");
  const blocks = [...page.matchAll(/^ *```json[^\n]*\n(.*?)^ *```$/gms)].map(
    ([, text = ""]) => text,
  );
  assert.ok(blocks.length > 4, "the providers were not found");
  const file = join(mkdtempSync(join(tmpdir(), "halyard-docs-")), "providers.json");
  for (const text of blocks) {
    const content: unknown = JSON.parse(text);
    writeFileSync(file, JSON.stringify(Array.isArray(content) ? content : [content]));
    const { providers } = parseConfig({
      ...settings,
      HALYARD_OIDC_FILE: file,
      HALYARD_PUBLIC_URL: "https://flags.example.com",
    });
    assert.equal(providers.length, 1);
  }
  rmSync(dirname(file), { recursive: true });
};
