import { existsSync } from "node:fs";
import { join } from "node:path";
import { cleanReleased } from "../src/engine/housework.ts";
import { Seating, type SeatPorts } from "../src/engine/seat-agents.ts";
import { gitWorktrees } from "../src/host/git/worktrees.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import type { Tx } from "../src/ports/store.ts";
import { type LandingWorld, landingWorld } from "./landing-world.ts";
import { type ManualClock, manualClock } from "./manual-clock.ts";
import { activeRun, storedAgent } from "./use-case.ts";

export interface SeatFacts {
  /** State, outcome and seat of each agent, in their order. */
  readonly states: readonly string[];
  /** What their parent was told. */
  readonly mail: readonly { readonly subject: string; readonly body: string }[];
}

export interface SeatWorld extends AsyncDisposable {
  /** The repository and the store that they share. */
  readonly landing: LandingWorld;
  readonly seating: Seating;
  readonly clock: ManualClock;
  /** Looks until no agent is being seated. Returns how many agents got their worktree or failed. */
  look(): Promise<number>;
  /** From now on making a worktree for the one in the middle throws this; undefined: nothing is in its way. */
  obstacle: Error | undefined;
  readonly reported: readonly unknown[];
  /** Stops the one in the middle while it waits. */
  stopMiddle(): Promise<void>;
  /** The engine is to stop. */
  stop(): void;
  /** Lets the one in the middle go, and reserves its next incarnation on the same branch. */
  renewMiddle(): Promise<void>;
  /** As a command with this pid does that is about to remove the worktree of the one in the middle. */
  beginRemoval(pid: number): Promise<void>;
  /** Takes away what released agents left. */
  clean(): Promise<void>;
  /** Does the worktree of the middle agent exist? */
  middleStands(): boolean;
  facts(): Promise<SeatFacts>;
}

const names = ["b1", "b2", "b3"] as const;

/** Three agents of a real repository that wait for their worktrees. */
export async function seatWorld(): Promise<SeatWorld> {
  const world = await landingWorld();
  const { store } = world;
  await store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    for (const name of names) {
      const waiting = { worktreeKind: "linked", branch: `overstory/${name}/t`, state: "booting" } as const;
      await tx.agents.reserve(storedAgent(name, { ...waiting, parentName: "lead" }));
    }
  });
  const worktrees = gitWorktrees(world.root);
  const reported: unknown[] = [];
  const stop = new AbortController();
  const clock = manualClock();
  const placeOf = (name: string): string => join(world.root, ".overstory", "worktrees", name);
  const ports: SeatPorts = {
    ...world.ports,
    clock,
    root: world.root,
    worktrees: {
      ...worktrees,
      create: async (request) => {
        if (request.agentName === "b2" && made.obstacle !== undefined) throw made.obstacle;
        return worktrees.create(request);
      },
    },
    processes: {
      ...linuxProcesses,
      endStartedFor: async () => ({ signalled: 0, escalated: false, survivors: [], ended: [] }),
    },
    worktreePath: placeOf,
    forgetEnvironment: () => {},
    forgetScratch: () => {},
    report: (error) => void reported.push(error),
  };
  let known = 0;
  const wake = (): void => {
    known++;
  };
  const seating = new Seating(ports, { stop: stop.signal, wake });
  const endMiddle = async (tx: Tx): Promise<void> => {
    const agent = await tx.agents.byName("b2");
    if (agent === undefined) throw new Error("there is no b2");
    const ended = { ...agent, state: "completed", outcome: "stopped", stateVersion: agent.stateVersion + 1 } as const;
    await tx.agents.move(agent, ended, { to: "completed", actor: "operator", reason: "stopped" }, 0);
  };
  const made: SeatWorld = {
    landing: world,
    seating,
    clock,
    obstacle: undefined,
    reported,
    look: async () => {
      known = 0;
      seating.look();
      await seating.settled();
      return known;
    },
    stopMiddle: () => store.transaction(endMiddle),
    stop: () => stop.abort(),
    renewMiddle: () =>
      store.transaction(async (tx) => {
        await endMiddle(tx);
        await tx.agents.release("agent-b2", 0);
        const next = { id: "agent-b2-2", generation: 2, state: "booting", worktreeKind: "linked" } as const;
        await tx.agents.reserve(storedAgent("b2", { ...next, branch: "overstory/b2/t", parentName: "lead" }));
      }),
    beginRemoval: async (pid) => {
      const identity = linuxProcesses.identify(pid);
      if (identity === undefined) throw new Error(`there is no process ${pid}`);
      await store.transaction((tx) => tx.removals.begin({ agentName: "b2", ...identity, createdAt: 0 }));
    },
    clean: () => cleanReleased(ports),
    middleStands: () => existsSync(join(placeOf("b2"), ".git")),
    facts: () =>
      store.read(async (tx) => {
        const states: string[] = [];
        for (const name of names) {
          const agent = await tx.agents.byName(name);
          states.push(`${agent?.state}/${agent?.outcome}/${agent?.worktreePath === null ? "no worktree" : "seated"}`);
        }
        const mail = await tx.messages.list({ to: "lead" });
        return { states, mail: mail.map(({ subject, body }) => ({ subject, body })) };
      }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
  return made;
}
