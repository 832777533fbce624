// The browser client alone, as an application's bundler makes it: small enough for any page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

/** In bytes. esbuild, whose bundle is some 270 bytes larger, then stays below 7,000 as well. */
const limit = 6_730;

test(`the browser client takes at most ${limit} bytes, minified and with gzip`, async (t) => {
  const bundle = await rolldown({
    input: fileURLToPath(import.meta.resolve("@halyard/sdk/browser")),
    platform: "browser",
  });
  t.after(() => bundle.close());
  const { output } = await bundle.generate({ minify: true, comments: false });
  const [{ code, exports }, ...others] = output;
  assert.deepEqual([exports, others], [["createContextClient"], []]);
  const { length } = gzipSync(code, { level: 9 });
  assert.ok(length <= limit, `${length} bytes`);
});
