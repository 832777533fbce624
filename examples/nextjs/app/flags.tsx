"use client";
import { createContextClient, type EvaluationContext, type FlagValues } from "@halyard/sdk/browser";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

interface Settings {
  /** What the server has evaluated the flags for. */
  readonly context: EvaluationContext;
  /** What the server has rendered with: the browser's first render is the same. */
  readonly values: FlagValues;
  readonly url: string;
  /** A key of the role client: everyone who opens the page can read it. */
  readonly clientKey: string;
}

const Values = createContext<FlagValues>({});

export const Flags = ({ children, ...settings }: Settings & { readonly children: ReactNode }) => {
  // Those of the first render only: after it, the client follows changes by itself.
  const [{ context, values, url, clientKey }] = useState(settings);
  const [current, setCurrent] = useState(values);
  useEffect(() => {
    const client = createContextClient({ url, key: clientKey, context, bootstrap: values });
    client.on("change", () => setCurrent(client.values()));
    return () => void client.close();
  }, [context, values, url, clientKey]);
  return <Values value={current}>{children}</Values>;
};

export const useFlag = (name: string): boolean => useContext(Values)[name] === true;
