// How the page is built: into dist, hashed files, nothing inlined that the Content-Security-Policy would refuse.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** `npx vite packages/dashboard` serves the sources and asks a running server for all else. */
const server = process.env.HALYARD_URL ?? "http://127.0.0.1:4400";

// biome-ignore lint/style/noDefaultExport: Vite asks for it.
export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2023",
    // Files of their own: scripts, styles and fonts come from this server only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Which file needs which, for the test of what a first visit loads.
    manifest: "manifest.json",
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: {
      output: {
        // What most parts share is one file. Otherwise every part that is loaded later cuts the files of the others into
        // smaller ones, and a first visit loads more bytes for it.
        codeSplitting: {
          groups: [{ name: "shared", minShareCount: 10 }],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/docs", "/openapi.json", "/session", "/sign-in"].map((path) => [path, server]),
    ),
  },
});
