// The evaluations that fail: keys that programs evaluate without such a flag, and flags of another type than they expect.
import type { EvaluationError } from "@halyard/sdk/management";
import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { PageTitle } from "../components/layout/page-title.tsx";
import { Section } from "../components/layout/section.tsx";
import { ErrorPrograms } from "../flags/errors/error-programs.tsx";
import { ErrorSentence } from "../flags/errors/error-sentence.tsx";
import { shownDays, useEvaluationErrors } from "../flags/errors/use-evaluation-errors.ts";
import { formatNumber } from "../format.ts";
import { countOf } from "../plans/plan-words.ts";

const shownAtMost = 200;

interface ErrorListProps {
  readonly title: string;
  readonly errors: readonly EvaluationError[];
}

const ErrorList = ({ title, errors }: ErrorListProps) => {
  if (errors.length === 0) return null;
  return (
    <Section title={title}>
      <ul className="error-list" aria-label={title}>
        {errors.slice(0, shownAtMost).map((error) => (
          <li key={error.key}>
            <Anchor
              component={Link}
              href={`/flags/${encodeURIComponent(error.key)}`}
              className="error-key mono"
            >
              {error.key}
            </Anchor>
            <p>
              <ErrorSentence error={error} />
            </p>
            <ErrorPrograms error={error} />
          </li>
        ))}
      </ul>
      {errors.length > shownAtMost && (
        <p className="dimmed">
          {formatNumber(shownAtMost)} of {countOf(errors.length, "key")} shown.{" "}
          <code>halyard flags errors</code> lists all of them.
        </p>
      )}
    </Section>
  );
};

export const EvaluationErrorsPage = () => {
  const { errors, error: failure, refetch, isPending } = useEvaluationErrors();
  const missing = errors?.filter(({ errorCode }) => errorCode === "FLAG_NOT_FOUND") ?? [];
  return (
    <>
      <PageTitle
        title="Evaluation errors"
        description={
          errors === undefined
            ? "…"
            : `${countOf(errors.length, "key")} in the last ${shownDays} days`
        }
      />
      {failure !== null && (
        <ErrorMessage
          error={failure}
          title="Couldn’t load the evaluation errors"
          onRetry={refetch}
        />
      )}
      {isPending && failure === null && <RowsSkeleton />}
      {errors?.length === 0 && (
        <EmptyState title="No evaluation errors">
          This page lists programs that evaluate a key without a flag, such as a deleted flag’s, or
          that expect another type than the flag’s. The Halyard SDK reports them once a minute.
        </EmptyState>
      )}
      <ErrorList title="Deleted flags" errors={missing.filter(({ deletion }) => deletion)} />
      <ErrorList title="Unknown keys" errors={missing.filter(({ deletion }) => !deletion)} />
      <ErrorList
        title="Flags of another type"
        errors={errors?.filter(({ errorCode }) => errorCode === "TYPE_MISMATCH") ?? []}
      />
    </>
  );
};
