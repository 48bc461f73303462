import type { ProjectFacts } from "./facts.ts";
import type { Inconsistency } from "./finding.ts";
import { agentRules } from "./rules/agent-rules.ts";
import { fileRules } from "./rules/file-rules.ts";
import { mergeRules } from "./rules/merge-rules.ts";
import { placeRules } from "./rules/place-rules.ts";
import { turnRules } from "./rules/turn-rules.ts";

/** Every inconsistency of a project. Rules are functions of the facts alone, so tests ask the same question. */
export const inconsistencies = (facts: ProjectFacts): readonly Inconsistency[] =>
  [...turnRules(facts), ...agentRules(facts), ...mergeRules(facts), ...placeRules(facts), ...fileRules(facts)].toSorted(
    (a, b) => (a.key < b.key ? -1 : 1),
  );
