// On the page of a flag, or of a key without one: the programs whose evaluations of it fail.
import { Alert } from "@mantine/core";
import { Icon } from "../../components/display/icon.tsx";
import { ErrorPrograms } from "./error-programs.tsx";
import { ErrorSentence } from "./error-sentence.tsx";
import { useEvaluationErrors } from "./use-evaluation-errors.ts";

export const ErrorsOfFlag = ({ flagKey }: { readonly flagKey: string }) => {
  const error = useEvaluationErrors().errors?.find(({ key }) => key === flagKey);
  if (error === undefined) return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      mb="lg"
      icon={<Icon name="warning" />}
      title="Evaluations fail"
    >
      <ErrorSentence error={error} /> Such an evaluation returns the default value of the program’s
      code.
      <ErrorPrograms error={error} />
    </Alert>
  );
};
