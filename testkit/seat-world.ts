import { join } from "node:path";
import { Seating } from "../src/engine/seat-agents.ts";
import { gitWorktrees } from "../src/host/git/worktrees.ts";
import { landingWorld } from "./landing-world.ts";
import { activeRun, storedAgent } from "./use-case.ts";

export interface SeatFacts {
  /** State, outcome and seat of each agent, in their order. */
  readonly states: readonly string[];
  /** What their parent was told. */
  readonly mail: readonly { readonly subject: string; readonly body: string }[];
}

export interface SeatWorld extends AsyncDisposable {
  readonly seating: Seating;
  /** One look, until nobody is being seated. Answers how many fates became known by it. */
  look(): Promise<number>;
  /** From now on making a worktree for the one in the middle throws this; undefined: nothing is in its way. */
  obstacle: Error | undefined;
  readonly reported: readonly unknown[];
  /** Stops the one in the middle while it waits. */
  stopMiddle(): Promise<void>;
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
  const seating = new Seating({
    ...world.ports,
    root: world.root,
    worktrees: {
      ...worktrees,
      create: async (request) => {
        if (request.agentName === "b2" && made.obstacle !== undefined) throw made.obstacle;
        return worktrees.create(request);
      },
    },
    processes: { endStartedFor: async () => ({ signalled: 0, escalated: false, survivors: [] }) },
    worktreePath: (name) => join(world.root, ".overstory", "worktrees", name),
    forgetEnvironment: () => {},
    report: (error) => void reported.push(error),
  });
  const made: SeatWorld = {
    seating,
    obstacle: undefined,
    reported,
    look: async () => {
      let known = 0;
      seating.look(() => {
        known++;
      });
      await seating.settled();
      return known;
    },
    stopMiddle: () =>
      store.transaction(async (tx) => {
        const agent = await tx.agents.byName("b2");
        if (agent === undefined) throw new Error("there is no b2");
        const ended = {
          ...agent,
          state: "completed",
          outcome: "stopped",
          stateVersion: agent.stateVersion + 1,
        } as const;
        await tx.agents.move(agent, ended, { to: "completed", actor: "operator", reason: "stopped" }, 0);
      }),
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
