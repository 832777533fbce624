// Asks before a change: in production and in protected environments with a field for the reason, elsewhere only what needs a confirmation everywhere.
import { maxReasonLength } from "@halyard/core/reason";
import { TextInput } from "@mantine/core";
import { useCallback } from "react";
import { useApi } from "../../session.tsx";
import { type Question, useConfirm } from "./confirm.tsx";

export interface ReasonQuestion extends Question {
  /** Whether it is asked in every environment, and not in production alone. */
  readonly everywhere?: boolean;
}

/** What a change carries besides itself. Goes into the options of the call as it is. */
export interface Given {
  readonly reason?: string;
}

/** Undefined when the person does not want the change. */
export type AskReason = (question: ReasonQuestion) => Promise<Given | undefined>;

/** A reason has no control characters: a pasted one has them as spaces. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}+/gu, " ");

export const givenReason = (text: string): Given => {
  const reason = plain(text).trim();
  return reason === "" ? {} : { reason };
};

interface ReasonInputProps {
  readonly onChange: (text: string) => void;
  readonly value?: string;
  /** Whether the dialog begins here. */
  readonly focused?: boolean;
}

export const ReasonInput = ({ onChange, value, focused = false }: ReasonInputProps) => (
  <TextInput
    label="Why? (optional, shown in history and sent in events)"
    {...(value !== undefined && { value })}
    onChange={(event) => onChange(event.currentTarget.value)}
    maxLength={maxReasonLength}
    autoComplete="off"
    {...(focused && { mt: "md", "data-autofocus": true })}
  />
);

/** That what is asked for is not done at once. */
export const ProposesNote = ({ name }: { readonly name: string }) => (
  <p className="confirm-sentence">
    {name} is protected: this is proposed, and nothing changes until somebody else approves it.
  </p>
);

/** `ask` for a change: resolves at once where nothing is asked. */
export const useReason = (): AskReason => {
  const confirm = useConfirm();
  const { asksReason, proposes, environment } = useApi();
  const { name } = environment;
  return useCallback<AskReason>(
    async ({ everywhere = false, body, ...question }) => {
      if (!asksReason)
        return everywhere && !(await confirm({ ...question, body })) ? undefined : {};
      let typed = "";
      const confirmed = await confirm({
        ...question,
        ...(proposes && { confirmLabel: "Propose" }),
        body: (
          <>
            {body}
            {proposes && <ProposesNote name={name} />}
            <ReasonInput
              focused
              onChange={(text) => {
                typed = text;
              }}
            />
          </>
        ),
      });
      return confirmed ? givenReason(typed) : undefined;
    },
    [confirm, asksReason, proposes, name],
  );
};
