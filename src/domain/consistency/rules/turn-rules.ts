import { hasEnded } from "../../agent/agent.ts";
import { attachPrefix } from "../../agent/wait.ts";
import type { ProcessRecord } from "../../process/process.ts";
import { type ProjectFacts, processKey, type StoredRows } from "../facts.ts";
import { breach, type FixStep, failing, type Inconsistency, mendedByEngine, row, warning } from "../finding.ts";

/** Rules about turns and everything that ends with them: processes, leases, tokens, claimed mail, reserved money. */
export function turnRules(facts: ProjectFacts): readonly Inconsistency[] {
  const { rows } = facts;
  if (rows === null) return [];
  return [
    ...turns(rows, facts),
    ...processes(rows, facts),
    ...leases(rows, facts),
    ...tokens(rows),
    ...mailInHand(rows),
    ...reservations(rows),
    ...mirrors(rows, facts),
  ];
}

const running = "running";

function turns(rows: StoredRows, { gone }: ProjectFacts): readonly Inconsistency[] {
  const agents = new Map(rows.agents.map((agent) => [agent.id, agent]));
  return rows.turns.flatMap((turn) => {
    const agent = agents.get(turn.agentId);
    const own = rows.processes.filter(({ turnId }) => turnId === turn.id);
    const live = own.filter((process) => !gone.has(processKey(process)));
    if (agent !== undefined && hasEnded(agent)) {
      return turn.status === "queued"
        ? [
            breach(
              queuedTurnOfEnded,
              turn.id,
              `${turn.agentName} has ended, and a turn of it is queued`,
              row("cancel-turn", turn.id),
            ),
          ]
        : [
            breach(
              runningTurnOfEnded,
              turn.id,
              `${turn.agentName} has ended, and a turn of it counts as running`,
              ...live.map(endOf),
              row("end-turn", turn.id),
            ),
          ];
    }
    const isLost = turn.status === running && live.every(({ role }) => role !== "supervisor");
    return isLost
      ? [
          breach(lostTurn, turn.id, `a turn of ${turn.agentName} counts as running, and no process owns it`, {
            on: "engine",
          }),
        ]
      : [];
  });
}

const queuedTurnOfEnded = warning("queued-turn-of-ended-agent", {
  affects: "the engine stays awake for a turn that never starts",
  does: "cancels the turn; its mail stays queued",
  isOfEngine: true,
});
const runningTurnOfEnded = failing("running-turn-of-ended-agent", {
  affects: "its mail is held, and the turn takes the place of another one",
  does: "ends what still runs of it, records the turn as lost and puts its mail back into the queue",
  isOfEngine: true,
});
const lostTurn = failing("turn-without-process", {
  affects: "the agent does nothing, and its mail is held",
  does: "starts or wakes the engine, which gives the turn to a new supervisor; that reads the rest of its output",
  ...mendedByEngine,
});

const endOf = ({ pid, startToken, bootId, turnId }: ProcessRecord): FixStep => ({
  on: "end",
  process: { pid, startToken, bootId },
  turnId,
});

function processes(rows: StoredRows, { gone, engine }: ProjectFacts): readonly Inconsistency[] {
  const agents = new Map(rows.agents.map((agent) => [agent.id, agent]));
  const holders = new Set(rows.leases.map(({ processId }) => processId));
  return rows.processes.flatMap((process) => {
    const { id, role, pid, turnId, turnStatus, agentId } = process;
    const isGone = gone.has(processKey(process));
    const close = row("end-process", id);
    if (role === "gate") {
      if (engine.isAlive) return [];
      return isGone
        ? [breach(goneGate, id, `the gate with process ${pid} is gone, and counts as running`, close)]
        : [
            breach(
              strayGate,
              id,
              `the gate with process ${pid} runs, and no engine waits for it`,
              endOf(process),
              close,
            ),
          ];
    }
    if (role === "engine") {
      // The holder of the seat is looked at with its lease.
      return isGone && !holders.has(id)
        ? [breach(goneProcess, id, `the engine with process ${pid} is gone, and counts as running`, close)]
        : [];
    }
    // While its turn runs, its supervisor or the next one sees to it.
    if (turnId !== null && turnStatus === running) return [];
    if (isGone) {
      return [breach(goneProcess, id, `the ${role} with process ${pid} is gone, and counts as running`, close)];
    }
    const agent = agentId === null ? undefined : agents.get(agentId);
    if (turnId === null && agent !== undefined && !hasEnded(agent)) return [];
    const what =
      turnId === null
        ? agent === undefined
          ? "its agent is not on record"
          : "its agent has ended"
        : turnStatus === null
          ? "its turn is not on record"
          : "its turn has ended";
    return [breach(strayProcess, id, `the ${role} with process ${pid} runs, and ${what}`, endOf(process), close)];
  });
}

const goneProcess = warning("record-of-gone-process", {
  affects: "stopping and cleaning look for a process that is not there",
  does: "records that the process has ended",
  isOfEngine: true,
});
const goneGate = { ...goneProcess, rule: "record-of-gone-gate", healedByEngine: true } as const;
const strayGate = warning("gate-without-engine", {
  affects: "a command of the project runs for no result, and may change files of its checkout",
  does: "ends the command and all it started",
  ...mendedByEngine,
});
const strayProcess = failing("process-of-ended-turn", {
  affects: "a program goes on in the name of an agent, costs money and may write files",
  does: "ends the program and all it started; its files stay",
  isOfEngine: true,
});

function leases(rows: StoredRows, { gone, engine }: ProjectFacts): readonly Inconsistency[] {
  return rows.leases.flatMap((lease) => {
    const { name, fence, holder, turnStatus } = lease;
    const drop = row("drop-lease", name, { number: fence });
    const isDead = holder === null || holder.endedAt !== null || gone.has(processKey(holder));
    if (name.startsWith(turnPrefix)) {
      if (turnStatus === running) return [];
      const turn = turnStatus === null ? "is not on record" : "has ended";
      return [breach(turnLease, name, `the lease ${name} is held, and its turn ${turn}`, drop)];
    }
    if (!isDead) return [];
    const close = holder === null || holder.endedAt !== null ? [] : [row("end-process", holder.id)];
    if (name.startsWith(attachPrefix)) {
      const agentName = name.slice(attachPrefix.length);
      const lift = row("forget-wait", agentName, { of: "operator", detail: name });
      return [
        breach(
          attachOfDead,
          agentName,
          `${agentName} counts as taken over by a person who is gone`,
          lift,
          drop,
          ...close,
        ),
      ];
    }
    if (name === "engine" && engine.isAlive) return [];
    return [breach(leaseOfDead, name, `the lease ${name} is held by a process that is gone`, drop, ...close)];
  });
}

const turnPrefix = "turn:";
const turnLease = warning("lease-of-ended-turn", {
  affects: "nothing but room in the database",
  does: "deletes the lease",
  isOfEngine: true,
});
const leaseOfDead = warning("lease-of-the-dead", {
  affects: "the next engine has to find out first that the holder is gone",
  does: "gives the lease up; the next holder gets a higher fence",
  ...mendedByEngine,
});
const attachOfDead = failing("attached-without-process", {
  affects: "no turn of the agent starts",
  does: "lifts the pause and gives the lease up",
  ...mendedByEngine,
});

function tokens(rows: StoredRows): readonly Inconsistency[] {
  const ended = new Set(rows.agents.filter(hasEnded).map(({ id }) => id));
  const names = new Map(rows.agents.map(({ id, name }) => [id, name]));
  return rows.tokens.flatMap(({ digest, agentId, turnId, turnStatus }) => {
    const isOver = turnId === null ? ended.has(agentId) : turnStatus !== running && turnStatus !== "queued";
    if (!isOver || !names.has(agentId)) return [];
    const what =
      turnId === null ? "has ended" : turnStatus === null ? "has a turn less than that" : "has ended its turn";
    const says = `a token of ${names.get(agentId)} counts, though the agent ${what}`;
    return [breach(oldToken, digest.slice(0, 12), says, row("revoke-token", digest))];
  });
}

const oldToken = failing("token-of-ended-turn", {
  affects: "a process that kept the token can speak as the agent",
  does: "revokes the token",
  isOfEngine: true,
});

function mailInHand(rows: StoredRows): readonly Inconsistency[] {
  return rows.deliveries.flatMap(({ messageSeq, toAgent, turnId, turnStatus, state }) => {
    if (turnId === null || turnStatus === running || turnStatus === "queued") return [];
    const turn = turnStatus === null ? "a turn that is not on record" : "a turn that has ended";
    const says = `message ${messageSeq} for ${toAgent} is ${state === "claimed" ? "held by" : "with"} ${turn}`;
    const back = row("give-back-mail", toAgent, { number: messageSeq });
    return [breach(heldMail, `${toAgent}/${messageSeq}`, says, back)];
  });
}

const heldMail = failing("mail-of-ended-turn", {
  affects: "the message is not read",
  does: "puts the message back into the queue of its reader, with the mark that it may have been seen",
  isOfEngine: true,
});

function reservations(rows: StoredRows): readonly Inconsistency[] {
  const over = rows.reservations.filter(({ turnStatus }) => turnStatus !== running && turnStatus !== "queued");
  const turnIds = new Set(over.map(({ turnId }) => turnId));
  return [...turnIds].map((turnId) =>
    breach(
      oldReservation,
      turnId,
      `money is set aside for ${turnId}, which will not spend it`,
      row("free-budget", turnId),
    ),
  );
}

const oldReservation = warning("reservation-of-ended-turn", {
  affects: "budgets look more used than they are",
  does: "gives the money back to its budgets",
  ...mendedByEngine,
});

function mirrors(rows: StoredRows, { files }: ProjectFacts): readonly Inconsistency[] {
  const live = new Set(rows.turns.filter(({ status }) => status === running).map(({ id }) => id));
  return files.mirrors.flatMap(({ path, agentName, turnId }) =>
    turnId !== null && live.has(turnId)
      ? []
      : [breach(oldMirror, agentName, `${path} names a turn that does not run`, { on: "delete", path })],
  );
}

const oldMirror = warning("mirror-of-ended-turn", {
  affects: "scripts that read the file take the agent for running",
  does: "deletes the file",
  isOfEngine: true,
});
