import { demoView } from "../../../contract/views/project.ts";
import { causeWords, howWords } from "../../../domain/merge/words.ts";
import { ok } from "../../../domain/result.ts";
import type { DemoAgent, DemoMerge, DemoState, DemoSummary } from "../../../usecases/demo/play.ts";
import { exits } from "../../shared/exits.ts";
import type { Handler, Paint } from "../command.ts";
import { isOn } from "../given.ts";

export const demo: Handler = async ({ app, flags, io }) => {
  const agents = typeof flags.agents === "number" ? flags.agents : 4;
  const seed = typeof flags.seed === "number" ? flags.seed : Math.floor(Math.random() * 1_000_000);
  const request = { agents, seed, keep: isOn(flags.keep) };
  if (!io.json) io.say(io.paint.muted(`a throwaway repository, scripted agents, no model (seed ${seed})`));
  let scene: Scene = { agents: new Map(), merges: new Map() };
  const onItem = (state: DemoState): void => {
    if (io.json || io.quiet) return;
    const { lines, next } = sceneNews(scene, state);
    scene = next;
    for (const line of lines) io.say(line(io.paint));
  };
  const played = await untilInterrupted((signal) => app.follow("demo.play", request, { onItem, signal }));
  if (!played.ok) return played;
  const summary = played.value;
  const view = demoView(summary);
  return ok({
    json: view,
    text: [...sceneLines(scene, io.paint), "", summaryText(summary, io.paint)].join("\n"),
    quietText: "",
    exit: view.success ? exits.ok : summary.interrupted ? exits.interrupted : exits.check,
  });
};

/** Pressed twice, they still wait until the team has ended. */
async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const interrupt = (): void => over.abort();
  for (const signal of endings) process.on(signal, interrupt);
  try {
    return await work(over.signal);
  } finally {
    for (const signal of endings) process.off(signal, interrupt);
  }
}

const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The facts shown last, so that only changes are told. */
interface Scene {
  readonly agents: ReadonlyMap<string, DemoAgent>;
  readonly merges: ReadonlyMap<string, string>;
}

type Line = (paint: Paint) => string;

/** One line for each thing that happened since the last look. */
function sceneNews(before: Scene, state: DemoState): { readonly lines: readonly Line[]; readonly next: Scene } {
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
function sceneLines({ agents }: Scene, paint: Paint): readonly string[] {
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

/** What came of it, and what to type in a repository of one's own. */
function summaryText(summary: DemoSummary, paint: Paint): string {
  const { landed, conflicts, recovered, caughtByGates, reviewsFailed, gateRuns, tasksOpen } = summary;
  const seconds = (summary.durationMs / 1000).toFixed(1);
  const row = (name: string, value: string): string => `  ${name.padEnd(12)} ${value}`;
  const lines = [
    paint.bold(
      summary.complete
        ? `Done in ${seconds} s`
        : `${summary.interrupted ? "Interrupted" : "Not done"} after ${seconds} s`,
    ),
    row(
      "landed",
      `${landed.length} branches, ${summary.tasksClosed} tasks closed${tasksOpen.length === 0 ? "" : `; open: ${tasksOpen.join(", ")}`}`,
    ),
    row("gates", `${gateRuns} runs; stopped before landing: ${listed(caughtByGates)}`),
    row("conflicts", listed(conflicts.map(({ branch, strategy }) => `${branch} (${strategy})`))),
    row("recovered", `${listed(recovered)} (program killed in the middle of a turn)`),
    row("reviews", `${reviewsFailed} sent back`),
    row("team", `${summary.agents} agents, ${summary.turns} turns, ${summary.messages} messages, 0 tokens`),
    row("tests", testWords(summary, paint)),
    "",
    ...(summary.kept ? [`The repository is at ${summary.root}`, ""] : []),
    "In a repository of your own:",
    `  ${paint.accent("ov init")}`,
    `  ${paint.accent('ov go "<what you want>"')}`,
    `  ${paint.accent("ov watch")}, ${paint.accent("ov status")}, ${paint.accent("ov inbox")}`,
  ];
  return lines.join("\n");
}

/** The tests run on the landed work, after its promotion. */
function testWords({ promoted, testsGreen }: DemoSummary, paint: Paint): string {
  if (!promoted) return "not run, since the work is not on main";
  return testsGreen ? paint.green("green on main") : paint.red("not green");
}

const listed = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));
