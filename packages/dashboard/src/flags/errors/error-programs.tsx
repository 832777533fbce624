// The programs whose evaluations of a key fail: how often, and when the last one was.
import type { EvaluationError } from "@halyard/sdk/management";
import { Time } from "../../components/display/time.tsx";
import { formatNumber } from "../../format.ts";
import { countOf } from "../../plans/plan-words.ts";
import "./errors.css";

const shownAtMost = 10;

export const ErrorPrograms = ({ error }: { readonly error: EvaluationError }) => {
  const { key, programs } = error;
  const latest = programs.toSorted((one, other) =>
    one.lastEvaluatedAt < other.lastEvaluatedAt ? 1 : -1,
  );
  const more = programs.length - shownAtMost;
  return (
    <>
      <ul className="error-programs" aria-label={`Programs that evaluate ${key}`}>
        {latest.slice(0, shownAtMost).map(({ name, count, lastEvaluatedAt }) => (
          <li key={name}>
            <span className="error-program">{name}</span>
            <span className="error-count">
              {countOf(count, "evaluation")}, last seen <Time at={lastEvaluatedAt} />
            </span>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="error-count">and {formatNumber(more)} more.</p>}
    </>
  );
};
