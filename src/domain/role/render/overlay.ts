import type { Assignment, ProjectTerms } from "../assignment.ts";
import { instructionMark } from "../instruction-mark.ts";
import { profileNames, profileText } from "../profiles.ts";
import { assignment, overrides, siblings, spec, underReview } from "./overlay-assignment.ts";
import { communication, completion, constraints, expertise, fileScope, place, spawning } from "./overlay-work.ts";
import { code, paragraphs } from "./words.ts";

/**
 * The whole instruction file of one agent: how it works, then what it works on. Text of others in it stands behind bars
 * or inside one line, so none of it can pass for ours.
 */
export function renderInstructions(prompt: string, given: Assignment, terms: ProjectTerms): string {
  return `${paragraphs([
    `${instructionMark}\n<!-- Written for ${given.agent.name} before each of its turns. It is no part of the project: do not edit or commit it. -->`,
    prompt,
    profile(given),
    "---",
    renderOverlay(given, terms),
  ])}\n`;
}

/** What this agent works on, section by section. */
export function renderOverlay(given: Assignment, terms: ProjectTerms): string {
  return paragraphs([
    assignment(given),
    spec(given),
    underReview(given),
    overrides(given),
    siblings(given),
    place(given),
    fileScope(given),
    expertise(given, terms),
    communication(given),
    spawning(given, terms),
    completion(given, terms),
    constraints(given),
  ]);
}

function profile({ asked }: Assignment): string | undefined {
  if (asked.profile === null) return undefined;
  const text = profileText(asked.profile);
  const known = `There is no text for this profile here; known are ${profileNames.join(", ")}. Work as your role says.`;
  return `## Working Style: ${code(asked.profile)}\n\n${text ?? known}`;
}
