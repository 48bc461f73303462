import { hasEnded } from "../../domain/agent/agent.ts";
import { fleetTree } from "../../domain/agent/fleet-tree.ts";
import { statusOf, waitWords } from "../../domain/agent/status.ts";
import type { Event } from "../../domain/event/event.ts";
import { eventWords } from "../../domain/event/event-words.ts";
import { awaitsApproval } from "../../domain/merge/entry.ts";
import { pauseWords, resumeCommand } from "../../domain/merge/queue-pause.ts";
import { causeWords } from "../../domain/merge/words.ts";
import { visibleLine } from "../../domain/text/visible.ts";
import type { CostGroup } from "../../usecases/costs/list-costs.ts";
import type { TrackedMessage } from "../../usecases/mail/tracked-message.ts";
import type { QueuedMerge } from "../../usecases/merge/read-merges.ts";
import type { OpenDecision, OpenQuestion } from "../../usecases/operator/decisions.ts";
import type { AgentStanding, Overview } from "../../usecases/status/overview.ts";
import { ago, counted, timeOfDay } from "../shared/format.ts";
import { landedParts } from "../shared/landed-line.ts";
import type { Paint } from "../shared/paint.ts";
import { fit } from "../shared/screen.ts";
import { mergeHues, toneLooks } from "../shared/status-looks.ts";
import type { Snapshot, ViewName } from "./snapshot.ts";

/** What a row is about: what the keys for acting act on. */
export type Subject =
  | { readonly kind: "agent"; readonly standing: AgentStanding }
  | { readonly kind: "merge"; readonly merge: QueuedMerge }
  | { readonly kind: "operation"; readonly id: string; readonly words: string }
  | { readonly kind: "decision"; readonly decision: OpenDecision }
  | { readonly kind: "question"; readonly question: OpenQuestion }
  | { readonly kind: "mail"; readonly message: TrackedMessage }
  | { readonly kind: "note"; readonly words: readonly string[] };

/** One line of a view. A row without a key is a heading: it cannot be selected. */
export interface Row {
  readonly key: string | null;
  readonly text: string;
  readonly subject: Subject | null;
}

interface Looks {
  readonly paint: Paint;
  readonly now: number;
  readonly width: number;
}

/** The rows of a view, from the top. */
export function rowsOf(view: ViewName, snapshot: Snapshot, looks: Looks): readonly Row[] {
  switch (view) {
    case "overview":
      return overviewRows(snapshot, looks);
    case "agents":
      return agentRows(snapshot.overview.agents, looks);
    case "merges":
      return mergeRows(snapshot, looks);
    case "mail":
      return snapshot.mail.map((message) => mailRow(message, looks));
    case "costs":
      return costRows(snapshot.costs, looks);
    case "logs":
      return snapshot.events.map((event) => eventRow(event, looks));
  }
}

const heading = (text: string): Row => ({ key: null, text, subject: null });
const blank = heading("");

function overviewRows(snapshot: Snapshot, looks: Looks): readonly Row[] {
  const { paint } = looks;
  const { overview, merges, events } = snapshot;
  const waiting = attentionRows(overview, merges, looks);
  const working = overview.agents.filter(({ agent }) => !hasEnded(agent));
  const criteria = overview.criteria.map(({ criterion, status }) => {
    const mark = { proved: paint.green("✓"), waived: paint.dim("~"), open: "·", doubted: paint.yellow("?") }[status];
    return heading(`  ${mark} ${criterion.number}. ${visibleLine(criterion.text)}`);
  });
  return [
    heading(paint.bold(waiting.length === 0 ? "Nothing waits for you" : `${waiting.length} for you`)),
    ...waiting,
    ...overview.unpromoted.flatMap((landed) => {
      const { facts, command } = landedParts(landed, overview.run?.id ?? null);
      return [heading(facts), heading(paint.dim(`  take it over: ${command}`))];
    }),
    ...(criteria.length === 0 ? [] : [blank, heading(paint.bold("Checklist")), ...criteria]),
    blank,
    heading(paint.bold(`${counted(working.length, "agent")}: ${tally(working)}`)),
    ...working
      .filter(isBusy)
      .slice(0, mostShownAgents)
      .map((standing) => agentRow(standing, "", looks)),
    blank,
    heading(paint.bold("Latest")),
    ...events
      .filter(({ type }) => !backstage.has(type))
      .slice(-mostShownEvents)
      .toReversed()
      .map((event) => eventRow(event, looks)),
  ];
}

/** Events that say nothing to a person at a glance. The view of logs has them. */
const backstage: ReadonlySet<string> = new Set(["usage", "tool_end", "session_start", "result", "seated"]);
const mostShownAgents = 12;
const mostShownEvents = 30;
const isBusy = ({ agent }: AgentStanding): boolean => statusOf(agent).tone === "active";

/** How many agents stand how: `3 working, 2 waiting`. */
function tally(standings: readonly AgentStanding[]): string {
  const counts = new Map<string, number>();
  for (const { agent } of standings) {
    const { words } = statusOf(agent);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return counts.size === 0 ? "none" : [...counts].map(([words, count]) => `${count} ${words}`).join(", ");
}

/** All items that wait for the operator, each with its subject. */
function attentionRows(overview: Overview, merges: readonly QueuedMerge[], { paint, now }: Looks): readonly Row[] {
  const mark = paint.bold(paint.yellow("!"));
  const note = (key: string, text: string, ...words: readonly string[]): Row => ({
    key,
    text: `${mark} ${text}`,
    subject: { kind: "note", words: [text, ...words] },
  });
  const { endedLeader, decisions, questions, blockedMerges, mergePause, unhanded, agents, otherRuns } = overview;
  return [
    ...(endedLeader === null
      ? []
      : [
          note(
            "leader",
            `${endedLeader.coordinatorName} has ended, and leads the run no more`,
            `ov recover ${endedLeader.coordinatorName}`,
          ),
        ]),
    ...merges
      .filter(({ entry }) => awaitsApproval(entry))
      .map((merge) => ({
        key: `merge:${merge.entry.id}`,
        text: `${mark} ${visibleLine(merge.entry.branch)} waits for your approval ${paint.dim("a approve, x reject")}`,
        subject: { kind: "merge", merge } as const,
      })),
    ...decisions.map((decision) => ({
      key: decision.id,
      text: `${paint.bold(paint.yellow("?"))} ${visibleLine(decision.from)} needs a decision: ${visibleLine(decision.subject)} ${paint.dim(ago(decision.createdAt, now))}`,
      subject: { kind: "decision", decision } as const,
    })),
    ...questions.map((question) => ({
      key: question.id,
      text: `${paint.bold(paint.yellow("?"))} ${visibleLine(question.from)} asks: ${visibleLine(question.subject)} ${paint.dim(ago(question.createdAt, now))}`,
      subject: { kind: "question", question } as const,
    })),
    ...(mergePause === null ? [] : [note("pause", visibleLine(pauseWords(mergePause)), resumeCommand)]),
    ...blockedMerges.map(({ id, branch, why, next }) =>
      note(`blocked:${id}`, `merge ${id} of ${visibleLine(branch)} is blocked: ${visibleLine(why)}`, visibleLine(next)),
    ),
    ...unhanded.map(({ agentName, branch }) =>
      note(
        `unhanded:${branch}`,
        `${agentName} handed in ${visibleLine(branch)}, which is in no queue`,
        `ov merge --branch ${branch}`,
      ),
    ),
    ...agents
      .filter(({ needsOperator }) => needsOperator)
      .map((standing) => ({
        key: `trouble:${standing.agent.name}`,
        text: `${paint.bold(paint.red("!"))} ${standing.agent.name}: ${visibleLine(standing.problem ?? statusOf(standing.agent).words)}`,
        subject: { kind: "agent", standing } as const,
      })),
    ...otherRuns
      .filter(({ waiting, endedLeader: led }) => waiting > 0 || led !== null)
      .map(({ run, waiting, endedLeader: led }) => {
        const what =
          waiting > 0 ? `${waiting} for you in run ${run.id}` : `${led?.coordinatorName} of run ${run.id} has ended`;
        return note(`run:${run.id}`, what, "press r to choose it");
      }),
  ];
}

const agentRows = (standings: readonly AgentStanding[], looks: Looks): readonly Row[] => {
  if (standings.length === 0) return [heading("No agents.")];
  return fleetTree(standings, ({ agent }) => agent).map(({ item, lead }) => agentRow(item, lead, looks));
};

function agentRow(standing: AgentStanding, lead: string, { paint, now, width }: Looks): Row {
  const { agent, waits, unread, problem, landedNowhere, needsOperator } = standing;
  const { words, tone } = statusOf({ ...agent, landedNowhere });
  const [icon, hue] = toneLooks[tone];
  const mark = needsOperator ? paint.bold(paint.red("!")) : paint[hue](icon);
  const nameWidth = width < 90 ? 22 : 30;
  const why = problem ?? (waits.length === 0 || hasEnded(agent) ? "" : `waits for ${waits.map(waitWords).join(", ")}`);
  const facts = [
    ...(agent.taskId === null ? [] : [visibleLine(agent.taskId)]),
    ...(unread === 0 ? [] : [`${unread} unread`]),
    ago(agent.endedAt ?? agent.lastActivityAt, now),
  ];
  const columns = [
    `${mark} ${fit(`${lead}${agent.name}`, nameWidth)}`,
    ...(width < 76 ? [] : [fit(agent.capability, 11)]),
    paint[hue](fit(words, 12)),
    paint.dim(facts.join("  ")),
    ...(why === "" ? [] : [visibleLine(why)]),
  ];
  return { key: `agent:${agent.name}`, text: columns.join(" "), subject: { kind: "agent", standing } };
}

function mergeRows({ merges, operations }: Snapshot, looks: Looks): readonly Row[] {
  const { paint, now } = looks;
  const open = merges.filter(({ entry }) => ["pending", "merging", "gating", "blocked"].includes(entry.status));
  const ended = merges.filter((merge) => !open.includes(merge)).toReversed();
  const train = merges.filter(({ entry }) => entry.status === "merging" || entry.status === "gating");
  return [
    heading(
      paint.bold(
        train.length === 0 ? "No train is under way" : `Train: ${train.map(({ entry }) => `#${entry.id}`).join(" ")}`,
      ),
    ),
    blank,
    heading(paint.bold(`Queue: ${counted(open.length, "branch", "branches")}`)),
    ...open.map((merge) => mergeRow(merge, looks)),
    ...(ended.length === 0
      ? []
      : [blank, heading(paint.bold("Before")), ...ended.map((merge) => mergeRow(merge, looks))]),
    ...(operations.length === 0 ? [] : [blank, heading(paint.bold("Operations (u takes one back)"))]),
    ...operations.map(({ id, kind, ref, status, createdAt, undoneBy }): Row => {
      const words = `${kind} on ${visibleLine(ref.replace(/^refs\/heads\//, ""))}: ${status}${undoneBy === null ? "" : ", taken back"}`;
      return {
        key: `op:${id}`,
        text: `${paint.dim(ago(createdAt, now).padEnd(9))} ${words}`,
        subject: { kind: "operation", id, words },
      };
    }),
  ];
}

function mergeRow(merge: QueuedMerge, { paint, width }: Looks): Row {
  const { entry, waitsFor, place } = merge;
  const notes = [
    ...(awaitsApproval(entry) ? [paint.yellow("waits for your approval")] : []),
    ...(entry.cause === null ? [] : [causeWords[entry.cause]]),
    ...(waitsFor.length === 0 ? [] : [`after ${waitsFor.map((id) => `#${id}`).join(" ")}`]),
    ...(place === null ? [] : [`place ${place}`]),
  ];
  const text = `${paint.dim(`#${entry.id}`.padEnd(5))}${paint[mergeHues[entry.status]](fit(entry.status, 11))}${fit(visibleLine(entry.branch), width < 90 ? 34 : 48)} ${notes.join(", ")}`;
  return { key: `merge:${entry.id}`, text, subject: { kind: "merge", merge } };
}

function mailRow(message: TrackedMessage, { paint, now }: Looks): Row {
  const { id, from, to, type, subject, priority, read, createdAt } = message;
  const mark = read
    ? paint.dim("·")
    : priority === "urgent" || priority === "high"
      ? paint.bold(paint.red("●"))
      : paint.accent("●");
  const text = `${mark} ${paint.dim(ago(createdAt, now).padEnd(9))} ${visibleLine(from)} → ${visibleLine(to)} ${paint.dim(`(${type})`)} ${visibleLine(subject)}`;
  return { key: `mail:${id}`, text, subject: { kind: "mail", message } };
}

/** The right-hand columns in a narrow terminal: the cost is never cut off. */
const costColumns = [
  { title: "Turns", from: 0, widths: [6, 7], cell: ({ totals }) => `${totals.turns}` },
  { title: "Input", from: 70, widths: [9, 11], cell: ({ totals }) => told(totals, totals.input) },
  { title: "Output", from: 0, widths: [9, 11], cell: ({ totals }) => told(totals, totals.output) },
  {
    title: "Cache",
    from: 80,
    widths: [9, 11],
    cell: ({ totals }) => told(totals, totals.cacheRead + totals.cacheWrite),
  },
  { title: "Cost", from: 0, widths: [9, 11], cell: ({ totals }) => paid(totals) },
  { title: "Of limit", from: 0, widths: [9, 11], cell: (group) => share(group) },
] as const satisfies readonly {
  readonly title: string;
  /** The narrowest terminal that has it. */
  readonly from: number;
  readonly widths: readonly [narrow: number, wide: number];
  readonly cell: (group: CostGroup) => string;
}[];

function costRows(groups: readonly CostGroup[], { paint, width }: Looks): readonly Row[] {
  if (groups.length === 0) return [heading("No turn has ended yet.")];
  const isWide = width >= 96;
  const columns = costColumns.filter(({ from }) => width >= from);
  const line = (name: string, cellOf: (column: (typeof costColumns)[number]) => string): string =>
    [
      fit(name, isWide ? 24 : 18),
      ...columns.map((column) => cellOf(column).padStart(column.widths[isWide ? 1 : 0])),
    ].join(" ");
  return [
    heading(paint.bold(line("Agent", ({ title }) => title))),
    ...groups.map((group): Row => {
      const text = line(visibleLine(group.key), ({ cell }) => cell(group));
      return { key: `cost:${group.key}`, text, subject: null };
    }),
  ];
}

function paid({ turns, unpriced, costMicros }: CostGroup["totals"]): string {
  if (turns === unpriced) return "n/a";
  // Less than half a cent is not nothing.
  const dollars = costMicros > 0 && costMicros < 5_000 ? "<$0.01" : `$${(costMicros / 1e6).toFixed(2)}`;
  return `${dollars}${unpriced === 0 ? "" : "+"}`;
}

const share = ({ usedPercent, limitUsd }: CostGroup): string =>
  usedPercent === null ? (limitUsd === null ? "-" : "n/a") : `${usedPercent} %`;

/** Tokens, unless no turn told any. */
const told = ({ turns, untold }: CostGroup["totals"], count: number): string =>
  turns > 0 && turns === untold ? "n/a" : thousands(count);

const thousands = (count: number): string => (count < 10_000 ? `${count}` : `${Math.round(count / 1000)}k`);

function eventRow(event: Event, { paint }: Looks): Row {
  const { label, text } = eventWords(event);
  const hue = event.level === "error" ? paint.red : event.level === "warn" ? paint.yellow : paint.dim;
  const line = `${paint.muted(timeOfDay(event.createdAt))} ${hue(label.padEnd(6))} ${paint.accent(fit(visibleLine(event.agentName ?? event.source), 14))} ${visibleLine(text)}`;
  return {
    key: `event:${event.seq}`,
    text: line,
    subject: { kind: "note", words: [`${timeOfDay(event.createdAt)} ${label}`, visibleLine(text)] },
  };
}
