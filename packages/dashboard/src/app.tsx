// The application: providers from the outside in, then the routes.
import "@mantine/core/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/sign-in.css";
import "./styles/flag-list.css";
import "./styles/flags.css";
import "./styles/history.css";
import "./styles/touch.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ConfirmProvider } from "./components/feedback/confirm.tsx";
import { ErrorBoundary } from "./components/feedback/error-boundary.tsx";
import { AskFlips } from "./flips/ask-flips.tsx";
import { RunPlanProvider } from "./plans/run-plan.tsx";
import { Routes } from "./routes.tsx";
import { SessionProvider } from "./session.tsx";
import { AskAgain } from "./sign-in/ask-again.tsx";
import { cssVariables, theme } from "./theme.ts";

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
// Where the library that locks scrolling behind dialogs reads it.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;

const queries = new QueryClient({
  // The management client already retries.
  defaultOptions: { queries: { retry: false, staleTime: 2_000 } },
});

/** A notice must not lie over the buttons of a dialog. */
const belowDialogs = 190;

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element with the id root");

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={cssVariables}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <Notifications position="bottom-right" autoClose={8_000} limit={4} zIndex={belowDialogs} />
        <ErrorBoundary>
          <ConfirmProvider>
            <SessionProvider>
              <AskFlips />
              <AskAgain>
                <RunPlanProvider>
                  <Routes />
                </RunPlanProvider>
              </AskAgain>
            </SessionProvider>
          </ConfirmProvider>
        </ErrorBoundary>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
