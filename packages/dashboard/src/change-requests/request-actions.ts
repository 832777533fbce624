// What can be done about a change request, and what is told when it cannot.
import type { ChangeRequest, Result } from "@halyard/sdk/management";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { notifyError } from "../components/feedback/notify.tsx";
import { useApi } from "../session.tsx";
import { keyOfRequests } from "./open-requests.ts";

type Call = () => Promise<Result<ChangeRequest>>;

export interface RequestActions {
  readonly busy: boolean;
  readonly approve: () => Promise<boolean>;
  readonly refuse: (comment: string) => Promise<boolean>;
  readonly withdraw: () => Promise<boolean>;
  readonly rebase: () => Promise<boolean>;
  readonly applyNow: () => Promise<boolean>;
  readonly bypass: (reason: string) => Promise<boolean>;
  readonly comment: (text: string) => Promise<boolean>;
  readonly edit: (change: {
    readonly reason: string;
    readonly applyAt: string | null;
  }) => Promise<boolean>;
}

export const useRequestActions = ({
  id,
  digest,
}: Pick<ChangeRequest, "id" | "digest">): RequestActions => {
  const { management, environment } = useApi();
  const { changeRequests: calls } = management;
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const key = keyOfRequests(environment.name);

  const run = async (call: Call, failed: string): Promise<boolean> => {
    setBusy(true);
    const result = await call();
    setBusy(false);
    if (result.ok) queries.setQueryData([...key, id], result.value);
    else notifyError(failed, result.error);
    await queries.invalidateQueries({ queryKey: key });
    return result.ok;
  };

  return {
    busy,
    approve: () => run(() => calls.approve(id, digest), "The request was not approved"),
    refuse: (comment) =>
      run(
        () => calls.refuse(id, comment === "" ? undefined : comment),
        "The request was not refused",
      ),
    withdraw: () => run(() => calls.withdraw(id), "The request was not withdrawn"),
    rebase: () =>
      run(async () => {
        const rebased = await calls.rebase(id);
        return rebased.ok ? { ok: true, value: rebased.value.request } : rebased;
      }, "The request was not rebased"),
    applyNow: () => run(() => calls.apply(id), "The request was not applied"),
    bypass: (reason) => run(() => calls.bypass(id, reason, digest), "Nothing was applied"),
    comment: (text) => run(() => calls.comment(id, text), "The comment was not sent"),
    edit: ({ reason, applyAt }) =>
      run(
        () => calls.update(id, { applyAt, ...(reason !== "" && { reason }) }),
        "The request was not changed",
      ),
  };
};
