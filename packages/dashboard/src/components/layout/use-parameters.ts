// What is chosen on a page stands in its address, so that a link shows the same.
import { useSearchParams } from "wouter";

/** The parameters, and how to set one; an empty text takes it away. */
export const useParameters = (): [URLSearchParams, (name: string, value: string) => void] => {
  const [parameters, setParameters] = useSearchParams();
  const set = (name: string, value: string): void =>
    setParameters(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return [parameters, set];
};
