// A condition with its result: true, false or unknown, and what the context has.
import { isEveryone } from "@halyard/core/targeting/conditions/condition";
import type { ExplainedCondition, ShownTruth } from "@halyard/core/targeting/explain";
import { Anchor } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { StatusBadge } from "../../components/display/status-badge.tsx";
import { conditionPhrase } from "../sentence.ts";

export const Truth = ({ result }: { readonly result: ShownTruth }) => {
  if (result === "unknown") return <StatusBadge tone="waiting">unknown</StatusBadge>;
  return <StatusBadge tone={result ? "good" : "quiet"}>{String(result)}</StatusBadge>;
};

interface LineProps {
  readonly result: ShownTruth;
  readonly children: ReactNode;
  /** What it is made of. */
  readonly parts?: ReactNode;
}

const Line = ({ result, children, parts }: LineProps) => (
  <li>
    <Truth result={result} /> {children}
    {parts !== undefined && <ul className="try-conditions">{parts}</ul>}
  </li>
);

const foundText = (condition: Extract<ExplainedCondition, { readonly attribute: string }>) => {
  const { attribute, found, result } = condition;
  if (found === undefined) return `the context has no ${attribute}`;
  const value = JSON.stringify(found);
  return result === "unknown" ? `found ${value}, which cannot be compared` : `found ${value}`;
};

const each = (conditions: readonly ExplainedCondition[]) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: they do not move
  conditions.map((part, index) => <Condition key={index} condition={part} />);

export const Condition = ({ condition }: { readonly condition: ExplainedCondition }) => {
  const { result } = condition;
  if (isEveryone(condition)) return <Line result={result}>everyone</Line>;
  if ("all" in condition) {
    return (
      <Line result={result} parts={each(condition.all)}>
        all of
      </Line>
    );
  }
  if ("any" in condition) {
    return (
      <Line result={result} parts={each(condition.any)}>
        any of
      </Line>
    );
  }
  if ("not" in condition) {
    return (
      <Line result={result} parts={<Condition condition={condition.not} />}>
        not
      </Line>
    );
  }
  if ("segment" in condition) {
    const parts = condition.segment.map(({ key, result: ofOne }) => (
      <Line key={key} result={ofOne}>
        in segment{" "}
        <Anchor component={Link} href={`/segments/${encodeURIComponent(key)}`} className="mono">
          {key}
        </Anchor>
      </Line>
    ));
    return condition.segment.length === 1 ? (
      parts
    ) : (
      <Line result={result} parts={parts}>
        in any of these segments
      </Line>
    );
  }
  return (
    <Line result={result}>
      {conditionPhrase(condition)} <span className="dimmed">({foundText(condition)})</span>
    </Line>
  );
};
