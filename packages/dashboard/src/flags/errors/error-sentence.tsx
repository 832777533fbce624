// What is wrong with evaluations of a key, in one sentence: which programs make them, and what became of the flag.
import { actorText } from "@halyard/core/history/actor-text";
import type { EvaluationError } from "@halyard/sdk/management";
import { Fragment } from "react";
import { Time } from "../../components/display/time.tsx";
import { formatNumber } from "../../format.ts";
import { useLiveState } from "../../live-provider.tsx";

const namedAtMost = 3;

/** "checkout-api", "checkout-api and web", "checkout-api, web, and 4 more programs". */
const Programs = ({ programs }: Pick<EvaluationError, "programs">) => {
  const hasMore = programs.length > namedAtMost;
  const named = programs.slice(0, hasMore ? namedAtMost - 1 : namedAtMost);
  const parts = named.map(({ name }) => <strong key={name}>{name}</strong>);
  const more = programs.length - named.length;
  if (hasMore) parts.push(<Fragment key="">{formatNumber(more)} more programs</Fragment>);
  const separator = parts.length > 2 ? ", " : " ";
  return parts.map((part, index) => (
    <Fragment key={part.key}>
      {index > 0 && separator}
      {index > 0 && index === parts.length - 1 && "and "}
      {part}
    </Fragment>
  ));
};

export const ErrorSentence = ({ error }: { readonly error: EvaluationError }) => {
  const { key, errorCode, deletion, programs } = error;
  const flag = useLiveState().byKey.get(key)?.flag;
  const isOne = programs.length === 1;
  if (errorCode === "TYPE_MISMATCH") {
    const valueType = flag?.type === "variant" ? flag.valueType : "boolean";
    return (
      <>
        <Programs programs={programs} /> {isOne ? "expects" : "expect"} another type, but the values
        of this flag have the type {valueType}.
      </>
    );
  }
  const evaluates = isOne ? "evaluates" : "evaluate";
  return deletion === null ? (
    <>
      <Programs programs={programs} /> {evaluates} this key, but no such flag exists.
    </>
  ) : (
    <>
      <Programs programs={programs} /> still {evaluates} this key, but {actorText(deletion.actor)}{" "}
      deleted the flag <Time at={deletion.at} />.
    </>
  );
};
