// The rules of a flag in sentences, for those who read.
import type { Flag } from "@halyard/core/flags/registry";
import { choiceOf } from "@halyard/core/flags/registry";
import { ruleSentence, servePhrase } from "../sentence.ts";

export const RuleSentences = ({ flag }: { readonly flag: Flag }) => (
  <>
    <ol className="rules" aria-label="Rules, in order">
      {(flag.rules ?? []).map((rule, index) => (
        <li key={rule.id} className="rule rule-toggle">
          <span className="rule-title">
            <span className="dimmed">{index + 1}.</span> <span className="mono">{rule.id}</span>
          </span>
          <span className="rule-sentence">{ruleSentence(rule)}</span>
          {rule.description !== undefined && (
            <span className="rule-about dimmed">{rule.description}</span>
          )}
        </li>
      ))}
    </ol>
    <p>Everyone else gets {servePhrase(choiceOf(flag).otherwise)}.</p>
  </>
);
