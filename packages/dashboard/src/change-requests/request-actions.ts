// What can be done about a change request; each asks first where it cannot be taken back, and tells how it went.
import type { ChangeRequest, Result } from "@halyard/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
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

export const useRequestActions = ({ id }: Pick<ChangeRequest, "id">): RequestActions => {
  const { management, environment } = useApi();
  const { changeRequests: calls } = management;
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const key = keyOfRequests(environment.name);

  const run = async (call: Call, done: string | undefined, failed: string): Promise<boolean> => {
    setBusy(true);
    const result = await call();
    setBusy(false);
    if (result.ok) {
      queries.setQueryData([...key, id], result.value);
      if (done !== undefined) notifyDone({ title: done });
    } else notifyError(failed, result.error);
    await queries.invalidateQueries({ queryKey: key });
    return result.ok;
  };

  return {
    busy,
    approve: () => run(() => calls.approve(id), undefined, "The request was not approved"),
    refuse: (comment) =>
      run(
        () => calls.refuse(id, comment === "" ? {} : { comment }),
        undefined,
        "The request was not refused",
      ),
    withdraw: () => run(() => calls.withdraw(id), undefined, "The request was not withdrawn"),
    rebase: () => run(() => calls.rebase(id), undefined, "The request was not rebased"),
    applyNow: () => run(() => calls.apply(id), undefined, "The request was not applied"),
    bypass: (reason) => run(() => calls.bypass(id, { reason }), undefined, "Nothing was applied"),
    comment: (text) =>
      run(() => calls.comment(id, { text }), undefined, "The comment was not sent"),
    edit: (change) => run(() => calls.update(id, change), undefined, "The request was not changed"),
  };
};
