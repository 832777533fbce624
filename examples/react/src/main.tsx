import { HalyardWebProvider } from "@halyard/sdk/openfeature/web";
import { OpenFeature, OpenFeatureProvider } from "@openfeature/react-sdk";
import { Suspense } from "react";
import { createRoot } from "react-dom/client";
import { Checkout } from "./checkout";

const user = { targetingKey: "user-42" };
OpenFeature.setProvider(
  new HalyardWebProvider({
    url: import.meta.env.VITE_HALYARD_URL,
    // A key of the role client: everyone who opens the page can read it.
    key: import.meta.env.VITE_HALYARD_KEY,
    // After this long without an answer the page shows the defaults.
    readyTimeout: 5_000,
  }),
  user,
);

createRoot(document.getElementById("root") as HTMLElement).render(
  <OpenFeatureProvider>
    <Suspense fallback={<p>Loading …</p>}>
      <Checkout />
    </Suspense>
  </OpenFeatureProvider>,
);
