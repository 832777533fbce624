// Tries a flag with a context: now, as it was at a time, or with the changes that are not saved yet.
import type { Flag, PatchFlag } from "@halyard/core/flags/registry";
import type { ExplainRequest, FlagExplanation } from "@halyard/sdk/management";
import { Button, NativeSelect, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { ApiError } from "../../api.ts";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { Section } from "../../components/layout/section.tsx";
import { useDraftPatch } from "../../flags/edit/edit-draft.tsx";
import { settingOf } from "../../flags/edit/flag-change.ts";
import { useApi } from "../../session.tsx";
import "../../styles/targeting/try-it.css";
import { RuleSentences } from "../rules/rule-sentences.tsx";
import { ContextEditor } from "./context-editor.tsx";
import { useContexts } from "./contexts.ts";
import { Explanation, Given } from "./explanation.tsx";
import { isChosen, noPast, PastFields, pastQueryOf, revisionIn } from "./past-choice.tsx";

type When = "now" | "then" | "draft";

interface Tried {
  readonly request: ExplainRequest;
  readonly explained?: FlagExplanation;
  readonly error?: ApiError;
}

interface TryItProps {
  readonly flagKey: string;
  /** The flag is not there any more: it can be tried as it was. */
  readonly isGone?: boolean;
}

const isPast = ({ request }: Tried): boolean => "at" in request || "revision" in request;

/** It was not there then, or history does not reach back that far. */
const isOutside = (tried: Tried): boolean =>
  isPast(tried) && ["CONFLICT", "NOT_FOUND"].includes(tried.error?.failure.code ?? "");

const AtThatTime = ({ flag }: { readonly flag: Flag }) => (
  <>
    <p>
      At that time: <strong>{settingOf(flag)}</strong>
    </p>
    {flag.rules !== undefined && <RuleSentences flag={flag} />}
  </>
);

/** Entries of the history lead to it with the revision that they made. */
export const TryItSection = (props: TryItProps) => {
  const [parameters] = useSearchParams();
  const revision = revisionIn(parameters);
  return <TryIt key={`${props.flagKey} ${revision}`} {...props} revision={revision} />;
};

interface AskedProps extends TryItProps {
  readonly revision: number | undefined;
}

const TryIt = ({ flagKey, isGone = false, revision }: AskedProps) => {
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (revision !== undefined) top.current?.scrollIntoView();
  }, [revision]);
  const { management, mayChange, environment } = useApi();
  const contexts = useContexts();
  const patch = useDraftPatch(flagKey);
  const [when, setWhen] = useState<When>(isGone || revision !== undefined ? "then" : "now");
  const [past, setPast] = useState({ ...noPast, revision });
  const [asked, setTried] = useState<Tried | undefined>();
  const explain = async (request: ExplainRequest): Promise<Tried> => {
    const result = await management.flags.explain(flagKey, request);
    return result.ok
      ? { request, explained: result.value }
      : { request, error: new ApiError(result.error) };
  };
  // A link to a revision shows it without another click.
  const first = useQuery({
    queryKey: [environment.name, "revision", flagKey, revision],
    enabled: revision !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => explain({ context: contexts.context, revision: revision ?? 0 }),
  });
  const tried = asked ?? first.data;
  const [busy, setBusy] = useState(false);
  const chosen = when === "draft" && patch === "" ? "now" : when;
  const isReady = chosen !== "then" || isChosen(past);
  const run = async (event: FormEvent) => {
    event.preventDefault();
    if (!isReady || busy) return;
    const request: ExplainRequest = {
      context: contexts.context,
      ...(chosen === "then" && pastQueryOf(past)),
      ...(chosen === "draft" && { patch: JSON.parse(patch) as PatchFlag }),
    };
    setBusy(true);
    const next = await explain(request);
    setBusy(false);
    setTried(next);
  };
  return (
    <Section title={isGone ? "Why did they get that?" : "Try it"}>
      <div ref={top} className="try-top" />
      {isGone && <p>The flag as it was, for anybody: who it is for, and when that was.</p>}
      <form onSubmit={(event) => void run(event)}>
        <Stack gap="sm">
          <ContextEditor contexts={contexts} flagKey={flagKey} />
          {mayChange && !isGone && (
            <NativeSelect
              className="try-time"
              label="When"
              data={[
                { value: "now", label: "As it is now" },
                { value: "then", label: "As it was: why did they get that?" },
                ...(patch === "" ? [] : [{ value: "draft", label: "With my unsaved changes" }]),
              ]}
              value={chosen}
              onChange={(event) => setWhen(event.currentTarget.value as When)}
            />
          )}
          {chosen === "then" && <PastFields choice={past} onChange={setPast} />}
          <div>
            {/* A button that is disabled loses the focus. */}
            <Button type="submit" className="try-evaluate" aria-disabled={busy} disabled={!isReady}>
              Evaluate
            </Button>
          </div>
        </Stack>
      </form>
      {tried?.error !== undefined && (
        <ErrorMessage
          error={tried.error}
          title="It could not be evaluated"
          advice={isOutside(tried) ? "Choose another time." : undefined}
        />
      )}
      {tried?.explained !== undefined && (
        <div className="try-result panel">
          {isPast(tried) && <AtThatTime flag={tried.explained.flag} />}
          <Given explained={tried.explained} />
          <Explanation explained={tried.explained} request={tried.request} />
        </div>
      )}
    </Section>
  );
};
