// The contexts that a person tries flags with, remembered in the browser for each environment.
import type { EvaluationContext } from "@halyard/core/context";
import { isObject } from "@halyard/core/targeting/mistakes";
import { useEffect, useState } from "react";
import { contextsPrefix, useApi } from "../../session.tsx";

interface NamedContext {
  readonly name: string;
  readonly context: EvaluationContext;
}

export interface Contexts {
  readonly all: readonly NamedContext[];
  /** The name of the one in use. */
  readonly current: string;
}

const first: Contexts = {
  all: [{ name: "Someone", context: { targetingKey: "user-1" } }],
  current: "Someone",
};

/** What another version has written may be anything. */
const readStored = (text: string | null): Contexts => {
  try {
    const stored: unknown = JSON.parse(text ?? "");
    if (!isObject(stored) || !Array.isArray(stored.all)) return first;
    const all = (stored.all as unknown[]).filter(
      (each): each is NamedContext =>
        isObject(each) && typeof each.name === "string" && isObject(each.context),
    );
    const current = all.find(({ name }) => name === stored.current) ?? all[0];
    return current === undefined ? first : { all, current: current.name };
  } catch {
    return first;
  }
};

export const useContexts = () => {
  const { environment } = useApi();
  const key = contextsPrefix + environment.name;
  const [contexts, setContexts] = useState(() => readStored(localStorage.getItem(key)));
  useEffect(() => {
    const take = (event: StorageEvent) => {
      if (event.key !== key) return;
      const { all } = readStored(event.newValue);
      // Each tab has its own choice.
      setContexts(({ current }) => readStored(JSON.stringify({ all, current })));
    };
    window.addEventListener("storage", take);
    return () => window.removeEventListener("storage", take);
  }, [key]);
  const keep = (next: Contexts) => {
    localStorage.setItem(key, JSON.stringify(next));
    setContexts(next);
  };
  const { all, current } = contexts;
  const context = all.find(({ name }) => name === current)?.context ?? {};
  return {
    names: all.map(({ name }) => name),
    current,
    context,
    choose: (name: string) => keep({ ...contexts, current: name }),
    change: (next: EvaluationContext) =>
      keep({
        ...contexts,
        all: all.map((each) => (each.name === current ? { ...each, context: next } : each)),
      }),
    rename: (name: string) =>
      keep({
        all: all.map((each) => (each.name === current ? { ...each, name } : each)),
        current: name,
      }),
    /** A copy of the one in use, to be changed. */
    add: () => {
      let number = all.length + 1;
      while (all.some(({ name }) => name === `Someone ${number}`)) number += 1;
      const name = `Someone ${number}`;
      keep({ all: [...all, { name, context }], current: name });
    },
    /** Never the last one. */
    forget: () => {
      const left = all.filter(({ name }) => name !== current);
      keep({ all: left, current: left[0]?.name ?? "" });
    },
  };
};
