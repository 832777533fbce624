// Test files that `npm test` leaves out whole, and the script that runs each of them.

export const longOnly: Readonly<Record<string, string>> = {
  // It installs the SDKs of other products.
  "packages/cli/test/importers-sdks.test.ts": "test:providers",
  "packages/dashboard/test/compare.test.ts": "test:pages",
  "packages/dashboard/test/environments.test.ts": "test:pages",
  "packages/dashboard/test/events.test.ts": "test:pages",
  "packages/dashboard/test/flags-bulk.test.ts": "test:pages",
  "packages/dashboard/test/outage-page.test.ts": "test:pages",
  "packages/dashboard/test/palette.test.ts": "test:pages",
  "packages/dashboard/test/people-providers.test.ts": "test:pages",
  "packages/dashboard/test/people-roles.test.ts": "test:pages",
  "packages/dashboard/test/programs.test.ts": "test:pages",
  "packages/dashboard/test/single-sign-on.test.ts": "test:pages",
  "packages/dashboard/test/try-it.test.ts": "test:pages",
  "packages/sdk/test/published-runs.test.ts": "test:packages",
  "packages/sdk/test/published-runtimes.test.ts": "test:packages",
  "packages/sdk/test/published.test.ts": "test:packages",
  // They change with the configuration of the checkers, and with the script that builds, not with the code.
  "test/build-dashboard.test.ts": "test:packages",
  "test/checkers.test.ts": "test:packages",
  "test/docs-preview.test.ts": "test:docs",
  // The tests of the command line start the same package.
  "test/packages.test.ts": "test:packages",
};
