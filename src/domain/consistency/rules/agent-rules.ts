import { type Agent, hasEnded, newestPerName } from "../../agent/agent.ts";
import { isAttachHold, isParking, waitKinds } from "../../agent/wait.ts";
import { isOpenMerge, mergeIdIn } from "../../merge/entry.ts";
import { type ProjectFacts, processKey, type StoredRows, type StoredWait } from "../facts.ts";
import { breach, failing, type Inconsistency, mendedByEngine, row, warning } from "../finding.ts";

/** Rules about agents by themselves: their state, their end, their waits, their possessions. */
export function agentRules(facts: ProjectFacts): readonly Inconsistency[] {
  const { rows } = facts;
  if (rows === null) return [];
  return [
    ...rows.agents.flatMap((agent) => ends(agent)),
    ...rows.agents.filter((agent) => !hasEnded(agent)).flatMap((agent) => live(agent, rows, facts)),
    ...orphans(rows),
    ...waits(rows),
    ...removals(rows, facts),
    ...tasks(rows),
    ...links(rows),
  ];
}

function ends(agent: Agent): readonly Inconsistency[] {
  const { id, name, generation, state, outcome, endedAt, releasedAt } = agent;
  const about = `${name}@${generation}`;
  if (hasEnded(agent) && (outcome === null || endedAt === null)) {
    return [breach(halfEnded, about, `${name} is ${state} without a reason or a time`, row("record-end", id))];
  }
  if (hasEnded(agent)) return [];
  return [
    ...(outcome !== null || endedAt !== null
      ? [breach(endedAlive, about, `${name} is ${state}, and has the end of an agent on record`, row("clear-end", id))]
      : []),
    ...(releasedAt !== null
      ? [breach(releasedAlive, about, `${name} is ${state}, and counts as released`, row("clear-release", id))]
      : []),
  ];
}

const halfEnded = warning("end-without-outcome", {
  affects: "how the agent ended is unknown",
  does: "records that the agent is assumed to be done, at the time of its last sign of life",
});
const endedAlive = warning("end-of-live-agent", {
  affects: "commands contradict each other about the agent",
  does: "takes the end out of its row; the agent stays as it is",
});
const releasedAlive = failing("release-of-live-agent", {
  affects: "the engine may take its worktree away while it works",
  does: "takes the release out of its row",
});

function live(agent: Agent, rows: StoredRows, { engine }: ProjectFacts): readonly Inconsistency[] {
  const { id, name, state, topology, worktreePath, stopRequestedBy } = agent;
  const turns = rows.turns.filter(({ agentId }) => agentId === id);
  const isRunning = turns.some(({ status }) => status === "running");
  if (!engine.isAlive && worktreePath === null && state === "booting") {
    return [breach(unseated, name, `${name} has a seat and no worktree yet, and no engine runs`, { on: "engine" })];
  }
  if (!engine.isAlive && stopRequestedBy !== null && !isRunning) {
    return [breach(halfStopped, name, `${name} was asked to stop, and nobody finished that`, { on: "engine" })];
  }
  if (topology !== "per_turn" || stopRequestedBy !== null || isAttached(name, rows)) return [];
  if (state === "in_turn" && !isRunning) {
    return [breach(inNoTurn, name, `${name} counts as working, and no turn of it runs`, row("settle-state", id))];
  }
  const parked = rows.waits.some(({ agentName, kind }) => agentName === name && isParkingKind(kind));
  if (state === "between_turns" && turns.length === 0 && rows.wokenNames.includes(name) && !parked) {
    return [breach(unwoken, name, `${name} has mail that starts a turn, and no turn is queued`, row("queue-turn", id))];
  }
  return [];
}

const isAttached = (name: string, { waits: all }: StoredRows): boolean =>
  all.some((wait) => wait.agentName === name && isAttachHold(wait));

const isParkingKind = (kind: string): boolean => {
  const known = waitKinds.find((one) => one === kind);
  return known !== undefined && isParking(known);
};

const unseated = failing("seat-without-worktree", {
  affects: "the agent does not begin",
  does: "starts the engine, which makes the worktree",
  ...mendedByEngine,
});
const halfStopped = warning("stop-unfinished", {
  affects: "the agent counts as live, and holds its task",
  does: "starts the engine, which ends the agent",
  ...mendedByEngine,
});
const inNoTurn = failing("working-without-turn", {
  affects: "no turn starts, because one counts as running",
  does: "lets the agent wait for its next turn, and queues one where mail asks for it",
  isOfEngine: true,
});
const unwoken = failing("mail-without-turn", {
  affects: "the message waits until other mail comes",
  does: "queues a turn",
  isOfEngine: true,
});

function orphans({ agents }: StoredRows): readonly Inconsistency[] {
  const names = new Set(["operator", "orchestrator", ...agents.map(({ name }) => name)]);
  return newestPerName(agents)
    .filter((agent) => !hasEnded(agent) && !names.has(agent.parentName))
    .map(({ id, name, parentName }) =>
      breach(orphan, name, `${name} reports to ${parentName}, and there is no such agent`, row("adopt-orphan", id)),
    );
}

const orphan = failing("agent-of-no-parent", {
  affects: "its reports reach no agent",
  does: "lets it report to you",
});

function waits(rows: StoredRows): readonly Inconsistency[] {
  const agents = new Map(newestPerName(rows.agents).map((agent) => [agent.name, agent]));
  const leases = new Set(rows.leases.map(({ name }) => name));
  const open = new Set(rows.merges.filter(isOpenMerge).map(({ id }) => id));
  return rows.waits.flatMap((wait) => {
    const why = vain(wait, { agents, leases, open, rows });
    if (why === undefined) return [];
    const { agentName, kind, ref } = wait;
    const forget = row("forget-wait", agentName, { of: kind, detail: ref });
    return [breach(vainWait, `${agentName}/${kind}/${ref}`, `${agentName} waits (${kind} ${ref}), but ${why}`, forget)];
  });
}

const vainWait = failing("wait-for-nothing", {
  affects: "the agent counts as waiting, and is never reminded",
  does: "takes the wait away, and queues a turn where mail asks for it",
  isOfEngine: true,
});

interface WaitFacts {
  readonly agents: ReadonlyMap<string, Agent>;
  readonly leases: ReadonlySet<string>;
  readonly open: ReadonlySet<number>;
  readonly rows: StoredRows;
}

/** Why nothing will ever end this wait. */
function vain(wait: StoredWait, { agents, leases, open, rows }: WaitFacts): string | undefined {
  const { agentName, kind, ref } = wait;
  const waiting = agents.get(agentName);
  if (waiting === undefined) return "there is no such agent";
  switch (kind) {
    case "child": {
      const child = agents.get(ref);
      return child === undefined ? `there is no agent ${ref}` : hasEnded(child) ? `${ref} has ended` : undefined;
    }
    case "reply":
      return wait.hasMessage ? undefined : "its question is not there any more";
    case "task":
      return rows.tasks.some((task) => task.id === ref && task.status !== "closed")
        ? undefined
        : `task ${ref} is closed, or not there`;
    case "merge":
    case "approval": {
      const id = mergeIdIn(ref);
      return id === undefined || open.has(id) ? undefined : "that branch is not in the queue";
    }
    case "rate_limit":
      return rows.turns.some(({ agentId }) => agentId === waiting.id) || hasEnded(waiting)
        ? undefined
        : "no turn is queued for the time after it";
    case "operator":
      return isAttachHold(wait) && !leases.has(ref) ? "the person who took it over is gone" : undefined;
    default:
      return undefined;
  }
}

function removals(rows: StoredRows, { gone }: ProjectFacts): readonly Inconsistency[] {
  return rows.removals
    .filter((removal) => gone.has(processKey(removal)))
    .map(({ agentName }) =>
      breach(
        deadRemoval,
        agentName,
        `a worktree of ${agentName} is being removed by a process that is gone`,
        row("end-removal", agentName),
      ),
    );
}

const deadRemoval = warning("removal-of-the-dead", {
  affects: "a new agent of the name waits a moment longer for its worktree",
  does: "ends the record; the worktree stays as it is",
  healedByEngine: true,
});

function tasks(rows: StoredRows): readonly Inconsistency[] {
  const newest = new Map(newestPerName(rows.agents).map((agent) => [agent.name, agent]));
  const known = new Set(rows.taskIds);
  return rows.tasks.flatMap((task) => {
    const { id, status, claimedBy, parentId } = task;
    const holder = claimedBy === null ? undefined : newest.get(claimedBy);
    const free = row("free-task", id, { of: claimedBy ?? "" });
    return [
      ...(status === "closed" && claimedBy !== null
        ? [breach(closedHeld, id, `task ${id} is closed, and ${claimedBy} holds it`, free)]
        : []),
      ...(status !== "closed" && holder?.releasedAt != null && hasEnded(holder)
        ? [breach(heldByReleased, id, `task ${id} is held by ${claimedBy}, which was released`, free)]
        : []),
      ...(parentId !== null && !known.has(parentId)
        ? [
            breach(
              partOfNothing,
              id,
              `task ${id} is part of ${parentId}, which does not exist`,
              row("clear-parent-task", id),
            ),
          ]
        : []),
    ];
  });
}

const closedHeld = warning("closed-task-held", {
  affects: "the agent seems to have two tasks",
  does: "frees the task; it stays closed",
});
const heldByReleased = failing("task-of-released-agent", {
  affects: "no other agent gets the task",
  does: "frees the task; one that was in progress is ready again",
});
const partOfNothing = warning("part-of-no-task", {
  affects: "the task is shown nowhere in the tree of tasks",
  does: "makes it a task of its own",
});

function links(rows: StoredRows): readonly Inconsistency[] {
  const dangling = rows.dangling.map(({ table, one, other }) =>
    breach(
      deadLink,
      `${table}/${one}/${other}`,
      `a row of ${table} links ${one} and ${other}, of which one does not exist`,
      row("delete-link", one, { of: table, detail: other }),
    ),
  );
  const unreadable = rows.unreadable.map(({ messageSeq, toAgent }) =>
    breach(
      noReader,
      `${toAgent}/${messageSeq}`,
      `message ${messageSeq} is for ${toAgent}, and there never was such an agent`,
      row("bury-mail", toAgent, { number: messageSeq }),
    ),
  );
  return [...dangling, ...unreadable];
}

const deadLink = failing("link-to-nothing", {
  affects: "lists and plans count what is not there",
  does: "deletes the link; both ends stay as they are",
});
const noReader = warning("mail-without-reader", {
  affects: "the message is not read",
  does: "makes it a dead letter, which `ov mail dead` lists",
});
