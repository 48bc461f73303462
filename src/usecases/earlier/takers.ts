import { converted, nameOf, textIn, textOf, timeIn, unreadable } from "../../domain/earlier/columns.ts";
import { agentOf, checkpointOf, endedRun, identityOf, runIdIn, runOf } from "../../domain/earlier/convert-agents.ts";
import { eventOf } from "../../domain/earlier/convert-event.ts";
import { mailOf } from "../../domain/earlier/convert-mail.ts";
import { mergeOf } from "../../domain/earlier/convert-merge.ts";
import { snapshotSpendingOf, spendingOf, usedIn } from "../../domain/earlier/convert-spending.ts";
import { beadsTask, groupOf } from "../../domain/earlier/convert-tasks.ts";
import type { EarlierPart, EarlierRow, EarlierValues } from "../../domain/earlier/earlier-project.ts";
import { isOpenMerge } from "../../domain/merge/entry.ts";
import { parseSeeds } from "../../domain/task/seeds.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { setMergeState } from "../merge/branch-owner.ts";
import { askForApproval } from "../merge/queue/approval.ts";
import type { Taking } from "./take-rows.ts";
import { takeBeads, takeSeeds } from "./take-tasks.ts";

type Taker = (taking: Taking, rows: readonly EarlierRow[]) => Promise<void>;

/** Rows without a run get one, because every agent has one here. */
const unnamedRun = "run-imported";

const takeRuns: Taker = async ({ tx, convert, take, present }, rows) => {
  for (const row of rows) {
    const read = convert(row, runOf);
    if (read === undefined) continue;
    if ((await tx.runs.get(read.run.id)) !== undefined) {
      present();
      continue;
    }
    const { run, wasActive } = read;
    await tx.runs.insert(run);
    const leftOpen = wasActive ? ["it was active when the project was imported"] : [];
    if (wasActive) await tx.runs.complete(run.id, "completed", run.completedAt ?? run.startedAt, leftOpen);
    take();
  }
};

const takeAgents: Taker = async ({ tx, context, convert, take, problem }, rows) => {
  const { now, ids, settings } = context;
  for (const row of rows) {
    const read = convert(row, (values) => ({
      runId: runIdIn(values) ?? unnamedRun,
      startedAt: timeIn(values, "started_at"),
    }));
    if (read === undefined) continue;
    const terms = { id: ids.next("agent", 12), runId: read.runId, runtime: settings.runtime.default, now };
    const agent = convert(row, (values) => agentOf(values, terms));
    if (agent === undefined) continue;
    if ((await tx.agents.byName(agent.name)) !== undefined) {
      problem(row, `is of ${agent.name}, and this project has an agent of that name`);
      continue;
    }
    if ((await tx.runs.get(agent.runId)) === undefined) await tx.runs.insert(endedRun(agent.runId, agent.startedAt));
    await tx.agents.reserve(agent);
    take();
  }
};

/** Takes rows that refer to no other: each that the project does not have yet. */
function takeNew<T>(
  read: (values: EarlierValues) => T,
  known: (tx: Tx, value: T) => Promise<unknown>,
  put: (tx: Tx, value: T) => Promise<unknown>,
): Taker {
  return async ({ tx, convert, take, present }, rows) => {
    for (const row of rows) {
      const value = convert(row, read);
      if (value === undefined) continue;
      if ((await known(tx, value)) !== undefined) present();
      else {
        await put(tx, value);
        take();
      }
    }
  };
}

const takeIdentities = takeNew(
  identityOf,
  (tx, { agentName }) => tx.recovery.identity(agentName),
  (tx, identity) => tx.recovery.putIdentity(identity),
);

const takeCheckpoints: Taker = async ({ tx, convert, take, present, problem }, rows) => {
  for (const row of rows) {
    const checkpoint = convert(row, checkpointOf);
    if (checkpoint === undefined) continue;
    if ((await tx.recovery.checkpoint(checkpoint.agentName)) !== undefined) present();
    else if ((await tx.agents.byName(checkpoint.agentName)) === undefined) {
      problem(row, `is of ${checkpoint.agentName}, and there is no such agent`);
    } else {
      await tx.recovery.putCheckpoint(checkpoint);
      take();
    }
  }
};

const takeGroups = takeNew(
  groupOf,
  (tx, { group }) => tx.groups.get(group.id),
  (tx, { group, members }) => tx.groups.insert(group, members),
);

const takeMessages: Taker = async ({ tx, convert, take, present, problem }, rows) => {
  for (const row of rows) {
    const from = convert(row, (values) => textOf(values, "from_agent"));
    const sender = from === undefined ? undefined : await tx.agents.byName(from);
    const mail = convert(row, (values) => mailOf(values, sender?.runId ?? null));
    if (from === undefined || mail === undefined) continue;
    if ((await tx.messages.get(mail.message.id)) !== undefined) {
      present();
      continue;
    }
    const messageSeq = await tx.messages.insert({ ...mail.message, fromAgentId: sender?.id ?? null });
    await tx.deliveries.insert([{ ...mail.delivery, messageSeq }]);
    if (mail.remark !== undefined) problem(row, mail.remark);
    take();
  }
};

const takeMerges: Taker = async ({ tx, context, targetBranch, convert, take, problem }, rows) => {
  for (const row of rows) {
    const name = convert(row, (values) => nameOf(values, "agent_name"));
    if (name === undefined) continue;
    const runId = (await tx.agents.byName(name))?.runId ?? null;
    const read = convert(row, (values) => mergeOf(values, { targetBranch, runId, now: context.now }));
    if (read === undefined) continue;
    const isSecond = isOpenMerge(read) && (await tx.merges.openOf(read.branch, targetBranch)) !== undefined;
    const entry = isSecond ? ({ ...read, status: "superseded" } as const) : read;
    const id = await tx.merges.insert(entry);
    if (isSecond) problem(row, `is one more entry of ${read.branch}, and counts as superseded`);
    else if (isOpenMerge(entry)) {
      await setMergeState(tx, { ...entry, id }, "queued", context.now);
      await askForApproval(tx, context, { ...entry, id }, "it was in the merge queue of an earlier version");
    }
    take();
  }
};

const takeSpending: Taker = async ({ tx, context, convert, take, present }, rows) => {
  for (const row of rows) {
    const name = convert(row, (values) => nameOf(values, "agent_name"));
    if (name === undefined) continue;
    const agent = await tx.agents.byName(name);
    const spending = convert(row, (values) => {
      const runId = runIdIn(values) ?? agent?.runId ?? null;
      return spendingOf(values, { agentId: null, runId, runtime: context.settings.runtime.default });
    });
    if (spending === undefined) continue;
    if ((await tx.spending.ofSource(spending.source)).length > 0) {
      present();
      continue;
    }
    const isOwn = agent !== undefined && agent.taskId === spending.taskId;
    await tx.spending.book([{ ...spending, agentId: isOwn ? agent.id : null }]);
    take();
  }
};

const snapshotIn = (values: EarlierValues) => ({ name: nameOf(values, "agent_name"), used: usedIn(values) });

/** Counts that grew: only the newest of a session without a row of its own says more than the sessions do. */
const takeSnapshots: Taker = async ({ tx, context, convert, take }, rows) => {
  for (const row of rows) {
    const read = convert(row, snapshotIn);
    if (read === undefined) continue;
    const agent = await tx.agents.byName(read.name);
    const isLive = (source: string | undefined): boolean => source === undefined || source.endsWith(":live");
    const newest = agent === undefined ? undefined : await tx.spending.newestOf(agent.id);
    if (agent !== undefined && isLive(newest?.source)) {
      const spending = convert(row, (values) =>
        snapshotSpendingOf(values, {
          agentId: agent.id,
          runId: runIdIn(values) ?? agent.runId,
          runtime: context.settings.runtime.default,
          capability: agent.capability,
          taskId: agent.taskId,
          startedAt: agent.startedAt,
        }),
      );
      if (spending === undefined) continue;
      await tx.spending.book([spending]);
    }
    take();
  }
};

const takeEvents: Taker = async ({ tx, convert, take }, rows) => {
  const known = new Map<string, { readonly id: string; readonly runId: string } | undefined>();
  for (const row of rows) {
    const read = convert(row, (values) => ({ ...eventOf(values), runId: textIn(values, "run_id") }));
    if (read === undefined) continue;
    const { agentName, createdAt, fact } = read;
    if (!known.has(agentName)) known.set(agentName, await tx.agents.byName(agentName));
    const agent = known.get(agentName);
    const runId = read.runId ?? agent?.runId ?? null;
    await record(tx, createdAt, { source: "agent", runId, agentName, agentId: agent?.id ?? null, ...fact });
    take();
  }
};

export const takers: Readonly<Record<EarlierPart, Taker>> = {
  runs: takeRuns,
  agents: takeAgents,
  identities: takeIdentities,
  checkpoints: takeCheckpoints,
  seeds: takeSeeds,
  beads: takeBeads,
  groups: takeGroups,
  messages: takeMessages,
  merges: takeMerges,
  spending: takeSpending,
  snapshots: takeSnapshots,
  events: takeEvents,
};

/** What an import reads of a row by itself. What the project adds to it makes no row readable. */
const readers: Readonly<Record<EarlierPart, (values: EarlierValues) => unknown>> = {
  runs: runOf,
  agents: (values) => agentOf(values, { id: "", runId: runIdIn(values) ?? unnamedRun, runtime: "", now: 0 }),
  identities: identityOf,
  checkpoints: checkpointOf,
  seeds: (values) => parseSeeds(textOf(values, "!line")).problems.map(({ problem }) => unreadable(problem)),
  beads: beadsTask,
  groups: groupOf,
  messages: (values) => mailOf(values, null),
  merges: (values) => [nameOf(values, "agent_name"), mergeOf(values, { targetBranch: "", runId: null, now: 0 })],
  spending: (values) => spendingOf(values, { agentId: null, runId: runIdIn(values), runtime: "" }),
  snapshots: snapshotIn,
  events: (values) => [eventOf(values), textIn(values, "run_id")],
};

/** Why an import would leave a row out, as far as the row alone says. */
export function whyUnreadable(part: EarlierPart, { values, problem }: EarlierRow): string | undefined {
  if (values === undefined) return problem ?? unread;
  const read = converted(() => readers[part](values));
  return read.ok ? undefined : read.refusal;
}

export const unread = "cannot be read";
