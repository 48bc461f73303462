import { visibleLine } from "../text/visible.ts";
import type { MergeEntry } from "./entry.ts";

export type MessageFacts = Pick<MergeEntry, "id" | "branch" | "targetBranch" | "taskId" | "agentName" | "runId"> & {
  readonly tier: string;
  readonly strategy: string | null;
  /** What the task is called, when there is one. */
  readonly title: string | null;
};

/** The words of a landing's commit: what a person reads first, then what tools look for. */
export function landingMessage(facts: MessageFacts): string {
  const { branch, targetBranch, taskId, title } = facts;
  const what = title === null ? visibleLine(branch) : `${oneLine(title)} (${visibleLine(branch)})`;
  const trailers = [
    ["Overstory-Task", taskId],
    ["Overstory-Agent", facts.agentName],
    ["Overstory-Run", facts.runId],
    ["Overstory-Tier", facts.tier],
    ["Overstory-Strategy", facts.strategy],
    ["Overstory-Queue-Id", String(facts.id)],
  ].filter((trailer): trailer is [string, string] => trailer[1] !== null);
  const body = trailers.map(([name, value]) => `${name}: ${oneLine(value)}`).join("\n");
  return `Merge ${what} into ${visibleLine(targetBranch)}\n\n${body}\n`;
}

/** A title must not be able to forge a trailer, nor to act on the terminal of a person who reads the history. */
const oneLine = (text: string): string => visibleLine(text.replace(/\s+/g, " ").trim().slice(0, 200));
