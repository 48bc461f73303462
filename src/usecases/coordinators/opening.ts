import type { Advice } from "../../domain/coordination/advice.ts";
import { adviceLines } from "../../domain/coordination/advice-text.ts";

export interface OpeningFacts {
  readonly objective: string | null;
  /** More about how to go about it than the objective says. */
  readonly brief: string | null;
  readonly targetBranch: string | null;
  /** Null where tasks are none of its business. */
  readonly advice: Advice | null;
}

/** The first message an agent that leads a run gets. */
export function openingMail(facts: OpeningFacts): { readonly subject: string; readonly body: string } {
  const { objective, brief, targetBranch, advice } = facts;
  const parts = [
    objective === null ? waiting : `Your objective:\n\n${objective}`,
    ...(brief === null ? [] : [brief]),
    ...(targetBranch === null ? [] : [`The work is meant for the branch ${targetBranch}.`]),
    ...(advice === null
      ? []
      : [`What the tasks there are say about working in parallel:\n${list(adviceLines(advice))}`]),
  ];
  return { subject: objective === null ? "Start" : `Objective: ${firstLine(objective)}`, body: parts.join("\n\n") };
}

const waiting =
  "There is no objective yet. Look at your mail and at what is ready, then end your turn: what is wanted comes as mail " +
  "and wakes you.";

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

const longestSubject = 72;

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= longestSubject ? line : `${line.slice(0, longestSubject - 1)}…`;
}
