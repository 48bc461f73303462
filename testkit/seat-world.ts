import { join } from "node:path";
import { seatAgents } from "../src/engine/seat-agents.ts";
import { gitWorktrees } from "../src/host/git/worktrees.ts";
import { landingWorld } from "./landing-world.ts";
import { activeRun, storedAgent } from "./use-case.ts";

export interface Seating {
  /** State, outcome and seat of each agent, in their order. */
  readonly states: readonly string[];
  readonly reported: readonly unknown[];
  /** How often it was said that somebody can begin. */
  readonly told: number;
  /** What their parent was told. */
  readonly mail: readonly { readonly subject: string; readonly body: string }[];
}

const names = ["b1", "b2", "b3"] as const;

/** Seats three agents of a real repository; the one in the middle meets the obstacle. */
export async function seatThree(obstacle: Error): Promise<Seating> {
  await using world = await landingWorld();
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
  let told = 0;
  const ports = {
    ...world.ports,
    root: world.root,
    worktrees: {
      ...worktrees,
      create: async (request: Parameters<typeof worktrees.create>[0]) => {
        if (request.agentName === "b2") throw obstacle;
        return worktrees.create(request);
      },
    },
    processes: { endStartedFor: async () => ({ signalled: 0, escalated: false, survivors: [] }) },
    worktreePath: (name: string) => join(world.root, ".overstory", "worktrees", name),
    forgetEnvironment: () => {},
    report: (error: unknown) => void reported.push(error),
  };
  await seatAgents(ports, () => {
    told++;
  });
  return store.read(async (tx) => {
    const states: string[] = [];
    for (const name of names) {
      const agent = await tx.agents.byName(name);
      states.push(`${agent?.state}/${agent?.outcome}/${agent?.worktreePath === null ? "no worktree" : "seated"}`);
    }
    const mail = await tx.messages.list({ to: "lead" });
    return { states, reported, told, mail: mail.map(({ subject, body }) => ({ subject, body })) };
  });
}
