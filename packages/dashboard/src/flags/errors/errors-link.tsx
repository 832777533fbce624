// Above the list of flags: how many keys have evaluations that fail, with a link to them.
import { Button } from "@mantine/core";
import { Link } from "wouter";
import { Icon } from "../../components/display/icon.tsx";
import { countOf } from "../../plans/plan-words.ts";
import { useEvaluationErrors } from "./use-evaluation-errors.ts";

export const ErrorsLink = () => {
  const { errors = [] } = useEvaluationErrors();
  if (errors.length === 0) return null;
  return (
    <Button
      component={Link}
      href="/evaluation-errors"
      variant="default"
      leftSection={<Icon name="warning" size={16} />}
    >
      {countOf(errors.length, "evaluation error")}
    </Button>
  );
};
