// Which deliveries are listed and which one is open, kept in the URL so that links show the same.
import { useCallback } from "react";
import { useSearchParams } from "wouter";

export const states = ["pending", "retrying", "delivered", "failed"] as const;
type State = (typeof states)[number];

export interface DeliveryFilter {
  readonly state: State | undefined;
  readonly flag: string;
  readonly opened: string | undefined;
}

const stateOf = (text: string | null): State | undefined => states.find((state) => state === text);

const parametersOf = ({ state, flag, opened }: DeliveryFilter): URLSearchParams => {
  const parameters = new URLSearchParams();
  if (state !== undefined) parameters.set("state", state);
  if (flag !== "") parameters.set("flag", flag);
  if (opened !== undefined) parameters.set("delivery", opened);
  return parameters;
};

export const hrefOf = (path: string, filter: DeliveryFilter): string =>
  `${path}?${parametersOf(filter)}`;

export const useDeliveryFilter = () => {
  const [parameters, setParameters] = useSearchParams();
  const filter: DeliveryFilter = {
    state: stateOf(parameters.get("state")),
    flag: parameters.get("flag") ?? "",
    opened: parameters.get("delivery") ?? undefined,
  };
  const setFilter = useCallback(
    (next: DeliveryFilter) => setParameters(parametersOf(next), { replace: true }),
    [setParameters],
  );
  return [filter, setFilter] as const;
};
