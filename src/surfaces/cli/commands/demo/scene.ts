import { causeWords, howWords } from "../../../../domain/merge/words.ts";
import type { DemoAgent, DemoMerge, DemoState } from "../../../../usecases/demo/play.ts";
import type { Paint } from "../../command.ts";

/** What was shown last, so that only what changed is told. */
export interface Scene {
  readonly agents: ReadonlyMap<string, DemoAgent>;
  readonly merges: ReadonlyMap<string, string>;
}

type Line = (paint: Paint) => string;

/** One line for each thing that happened since the last look. */
export function sceneNews(before: Scene, state: DemoState): { readonly lines: readonly Line[]; readonly next: Scene } {
  const lines: Line[] = [];
  for (const agent of state.agents) {
    const words = wordsOf(agent);
    const earlier = before.agents.get(agent.name);
    if (earlier !== undefined && wordsOf(earlier) === words) continue;
    lines.push(
      (paint) => `${indent(agent)}${markOf(agent, paint)} ${agent.name} ${paint.muted(agent.capability)} ${words}`,
    );
  }
  const merges = new Map<string, string>();
  for (const [at, merge] of state.merges.entries()) {
    const key = `${at}`;
    const words = mergeWords(merge);
    merges.set(key, words);
    if (before.merges.get(key) !== words) lines.push((paint) => `${mergeMark(merge, paint)} ${merge.branch} ${words}`);
  }
  return { lines, next: { agents: new Map(state.agents.map((agent) => [agent.name, agent])), merges } };
}

/** The team as a tree, as it ended. */
export function sceneLines({ agents }: Scene, paint: Paint): readonly string[] {
  const below = (parent: string, depth: number): string[] =>
    [...agents.values()]
      .filter((agent) => agent.parentName === parent)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((agent) => [
        `${"  ".repeat(depth)}${markOf(agent, paint)} ${agent.name} ${paint.muted(`${agent.capability}${agent.generation > 1 ? `, came back ${agent.generation - 1}x` : ""}`)}`,
        ...below(agent.name, depth + 1),
      ]);
  return below("operator", 0);
}

const depths: Readonly<Record<string, number>> = { coordinator: 0, lead: 1 };
const indent = ({ capability }: DemoAgent): string => "  ".repeat(depths[capability] ?? 2);

function wordsOf({ state, outcome, generation, released }: DemoAgent): string {
  if (state === "completed")
    return released ? "has finished and may go" : `has handed in its work${outcome === "done" ? "" : ` (${outcome})`}`;
  if (state === "zombie") return `died (${outcome})`;
  const again = generation > 1 ? " again" : "";
  return state === "booting" ? `gets a worktree${again}` : state === "between_turns" ? "waits" : `works${again}`;
}

function markOf({ state, released }: DemoAgent, paint: Paint): string {
  if (state === "completed") return released ? paint.green("✓") : paint.cyan("◆");
  if (state === "zombie") return paint.red("✗");
  return state === "between_turns" ? paint.muted("·") : paint.yellow("▸");
}

function mergeWords({ status, tier, strategy, cause, gate }: DemoMerge): string {
  switch (status) {
    case "merged":
      return tier === "auto-resolve" ? `landed; ${howWords({ tier, strategy })}` : "landed";
    case "failed":
      return cause === "gate_failed"
        ? `was stopped by ${gate ?? "a gate"} before it could land`
        : `did not land: ${cause === null ? "it failed" : causeWords[cause]}`;
    case "gating":
      return "is being tested together with what landed before";
    case "conflict":
      return "conflicts and goes back";
    default:
      return `is in the queue (${status})`;
  }
}

function mergeMark({ status }: DemoMerge, paint: Paint): string {
  if (status === "merged") return paint.green("⇥");
  return status === "failed" || status === "conflict" ? paint.red("↩") : paint.muted("⇥");
}
