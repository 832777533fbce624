// Conditions and rules as text that cannot break out of its line of the terminal.

import type { Condition } from "@halyard/core/targeting/conditions/condition";
import * as texts from "@halyard/core/targeting/rule-text";
import type { Rule } from "@halyard/core/targeting/targeting";
import { inOneLine } from "./output.ts";

export const conditionText = (condition: Condition): string =>
  inOneLine(texts.conditionText(condition));

export const ruleText = (rule: Rule): string => inOneLine(texts.ruleText(rule));
