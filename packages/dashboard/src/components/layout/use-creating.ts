// Whether the dialog of a page that creates something is open: in the address, so that it can be opened from elsewhere.
import { useSearchParams } from "wouter";

const parameter = "create";

export const useCreating = (): readonly [boolean, (isCreating: boolean) => void] => {
  const [parameters, setParameters] = useSearchParams();
  const set = (isCreating: boolean) =>
    setParameters(
      (before) => {
        const next = new URLSearchParams(before);
        if (isCreating) next.set(parameter, "1");
        else next.delete(parameter);
        return next;
      },
      { replace: true },
    );
  return [parameters.has(parameter), set];
};

/** The address that opens the dialog of a page; on that page its filters stay. */
export const addressToCreate = (page: string, shown: string): string => {
  const parameters = new URLSearchParams(page === shown ? location.search : "");
  parameters.set(parameter, "1");
  return `${page}?${parameters.toString()}`;
};
