"use client";
import { createContextClient } from "@halyard/sdk";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

type Values = Readonly<Record<string, boolean>>;
interface Settings {
  /** What the server has rendered with: the browser's first render is the same. */
  readonly values: Values;
  readonly url: string;
  /** A key of the role client: everyone who opens the page can read it. */
  readonly clientKey: string;
  readonly targetingKey: string;
}

const FlagValues = createContext<Values>({});

export const Flags = ({ children, ...settings }: Settings & { readonly children: ReactNode }) => {
  const { values, url, clientKey, targetingKey } = settings;
  // The values of the first render only: after it, the client follows changes by itself.
  const [bootstrap] = useState(values);
  const [current, setCurrent] = useState(values);
  useEffect(() => {
    const client = createContextClient({
      url,
      key: clientKey,
      context: { targetingKey },
      bootstrap,
    });
    client.on("change", () => {
      const names = Object.keys(bootstrap);
      setCurrent(Object.fromEntries(names.map((name) => [name, client.isEnabled(name)])));
    });
    return () => void client.close();
  }, [bootstrap, url, clientKey, targetingKey]);
  return <FlagValues value={current}>{children}</FlagValues>;
};

export const useFlag = (name: string): boolean => useContext(FlagValues)[name] ?? false;
