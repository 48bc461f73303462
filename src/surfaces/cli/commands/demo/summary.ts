import type { DemoSummary } from "../../../../usecases/demo/play.ts";
import type { Paint } from "../../command.ts";

/** What came of it, and what to type in a repository of one's own. */
export function summaryText(summary: DemoSummary, paint: Paint): string {
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
    row("tests", summary.testsGreen ? paint.green("green on main") : paint.red("not green")),
    "",
    ...(summary.kept ? [`The repository is at ${summary.root}`, ""] : []),
    "In a repository of your own:",
    `  ${paint.accent("ov init")}`,
    `  ${paint.accent('ov go "<what you want>"')}`,
    `  ${paint.accent("ov watch")}, ${paint.accent("ov status")}, ${paint.accent("ov inbox")}`,
  ];
  return lines.join("\n");
}

const listed = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));
