// Why a flag gives what it gives, step by step.
import type { Evaluation, Reason } from "@halyard/core/evaluate";
import { choiceOf } from "@halyard/core/flags/registry";
import type { ExplainedRequirement, ExplainedRule } from "@halyard/core/targeting/explain";
import type { ExplainRequest, FlagExplanation } from "@halyard/sdk/management";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { valueOrThrow } from "../../api.ts";
import { StatusBadge } from "../../components/display/status-badge.tsx";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { formatNumber, formatPercent } from "../../format.ts";
import { useApi } from "../../session.tsx";
import { servePhrase } from "../sentence.ts";
import { Condition, Truth } from "./explained-condition.tsx";

const reasons: Readonly<Record<Reason, string>> = {
  STATIC: "it is the same for everyone",
  DISABLED: "the flag is off",
  PREREQUISITE_FAILED: "a requirement is not met",
  TARGETING_MATCH: "a rule matches",
  SPLIT: "their share of a split decides",
  DEFAULT: "no rule decides",
};

/** "on, because the rule staff matches". */
const givenText = (given: Evaluation): string => {
  if ("errorCode" in given) return `nothing: ${given.errorDetails}`;
  const { variant, reason, rule } = given;
  const why = rule === undefined ? reasons[reason] : `the rule ${rule} decides`;
  return `${variant}, because ${why}`;
};

interface StepProps {
  readonly explained: FlagExplanation;
  readonly request: ExplainRequest;
}

/** The required flag, explained in its turn once somebody wants to know. */
const RequirementSteps = ({
  flag,
  request,
}: {
  readonly flag: string;
  readonly request: ExplainRequest;
}) => {
  const { management, environment } = useApi();
  // What would be changes the flag itself, not what it requires.
  const { patch: _, ...asked } = request;
  const query = useQuery({
    queryKey: [environment.name, "explain", flag, asked],
    queryFn: async () => valueOrThrow(await management.flags.explain(flag, asked)),
  });
  if (query.error !== null) return <ErrorMessage error={query.error} onRetry={query.refetch} />;
  return query.data === undefined ? (
    <p role="status">Loading…</p>
  ) : (
    <Explanation explained={query.data} request={asked} />
  );
};

interface RequirementProps {
  readonly requirement: ExplainedRequirement;
  readonly request: ExplainRequest;
}

const RequirementStep = ({ requirement, request }: RequirementProps) => {
  const { flag, variant, found, met } = requirement;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li>
      <StatusBadge tone={met ? "good" : "bad"}>{met ? "met" : "not met"}</StatusBadge>{" "}
      <span className="mono">{flag}</span> must give {variant}:{" "}
      {found === null ? "there is no such flag" : `it gives ${givenText(found)}`}.
      {found !== null && (
        <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
          <summary>Why {flag} gives that</summary>
          {isOpen && <RequirementSteps flag={flag} request={request} />}
        </details>
      )}
    </li>
  );
};

const outcomeOf = (rule: ExplainedRule, isAfter: boolean): string => {
  const { disabled, when, decided, serve } = rule;
  if (disabled === true) return "is disabled";
  if (decided) return `decides: serve ${servePhrase(serve)}`;
  if (isAfter) return "comes after the one that decides";
  if (when.result === true && typeof serve !== "string") {
    return `matches, but its split (${servePhrase(serve)}) does not reach them`;
  }
  if (when.result === true) return "matches";
  return when.result === "unknown" ? "does not match: something is not known" : "does not match";
};

const RuleStep = ({
  rule,
  isAfter,
}: {
  readonly rule: ExplainedRule;
  readonly isAfter: boolean;
}) => (
  <li data-decided={rule.decided || undefined}>
    <Truth result={rule.when.result} /> Rule <strong className="mono">{rule.id}</strong>{" "}
    {outcomeOf(rule, isAfter)}.
    <ul className="try-conditions">
      <Condition condition={rule.when} />
    </ul>
  </li>
);

const BucketStep = ({ explained }: { readonly explained: FlagExplanation }) => {
  const { by, seed, value, hash, percentage } = explained.bucket;
  return (
    <li>
      {value === null || hash === null || percentage === null ? (
        <>
          Splits go by <span className="mono">{by}</span>, which the context does not have.
        </>
      ) : (
        <>
          Splits go by <span className="mono">{by}</span>: <span className="mono">{value}</span>{" "}
          with the seed <span className="mono">{seed}</span> has the hash {formatNumber(hash)},
          which is at {formatPercent(percentage)} of everyone.
        </>
      )}
    </li>
  );
};

const lastStep = ({ flag, rules }: FlagExplanation): string => {
  const [head, who] =
    rules.length > 0
      ? ["No rule decides: ", "everyone else"]
      : ["There are no rules: ", "everyone"];
  if (flag.type === "rollout") {
    return `${head}${formatPercent(flag.percentage)} of ${who} get on.`;
  }
  return `${head}${who} gets ${servePhrase(choiceOf(flag).otherwise)}.`;
};

/** Whether anything of the flag goes by a share of people. */
const isSplit = ({ flag, rules }: FlagExplanation): boolean =>
  flag.type === "rollout" ||
  (flag.type === "variant" && typeof flag.otherwise !== "string") ||
  rules.some(({ serve }) => typeof serve !== "string");

export const Explanation = ({ explained, request }: StepProps) => {
  const { flag, requires, rules } = explained;
  const reason = "errorCode" in explained ? undefined : explained.reason;
  const decidedAt = rules.findIndex(({ decided }) => decided);
  const isLast = reason === "DEFAULT" || (reason === "SPLIT" && decidedAt === -1);
  return (
    <ol className="try-steps">
      <li>
        The flag is {flag.enabled ? "on" : "off"}
        {flag.enabled ? "." : ": nothing else counts."}
      </li>
      {requires.map((requirement) => (
        <RequirementStep key={requirement.flag} requirement={requirement} request={request} />
      ))}
      {rules.map((rule, index) => (
        <RuleStep key={rule.id} rule={rule} isAfter={decidedAt !== -1 && index > decidedAt} />
      ))}
      {isSplit(explained) && <BucketStep explained={explained} />}
      {(isLast || reason === "STATIC") && <li data-decided>{lastStep(explained)}</li>}
    </ol>
  );
};

/** What is given, for the top of the steps. */
export const Given = ({ explained }: { readonly explained: FlagExplanation }) => (
  <p className="try-given" role="status">
    {"errorCode" in explained ? (
      <>Gives {givenText(explained)}</>
    ) : (
      <>
        Gives <strong className="mono">{JSON.stringify(explained.value)}</strong>:{" "}
        {givenText(explained)}.
      </>
    )}{" "}
    <span className="dimmed">Revision {formatNumber(explained.revision)}.</span>
  </p>
);
