import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasEnded } from "../../src/domain/agent/agent.ts";
import type { TestProject } from "../../testkit/project.ts";

/** The lines that the operator types, in this order. */
export const typedLines = ["sling", "stop", "release"] as const;
export type TypedLine = (typeof typedLines)[number];

export interface Drive {
  /** Variables of each line; services that it starts inherit those of kill-points. */
  env(line: TypedLine): Readonly<Record<string, string>>;
  /** Looked at from time to time; true when nobody is left who could go on without a person. */
  needsPerson(): boolean;
}

const killedCode = 137;

/** Plays the operator: slings the lead, stops the scout while it hangs, and at the end lets the second builder go. */
export async function driveTeam(project: TestProject, drive: Drive): Promise<void> {
  await type(project, drive, "sling", ["L", "--name", "lead1", "--capability", "lead"], (agents) =>
    agents.has("lead1"),
  );
  await until(project, drive, "the scout hung", async () => existsSync(join(project.home, "s1.hangs")));
  await type(project, drive, "stop", ["s1"], (_, stopping) => stopping.has("s1"));
  await until(project, drive, "the scout had ended", () => ended(project, "s1"));
  writeFileSync(join(project.home, "go"), "");
  // The lead may read a builder's report before that builder's own turn is over.
  for (const name of ["lead1", "b1", "b2"])
    await until(project, drive, `${name} had ended`, () => ended(project, name));
  await type(project, drive, "release", ["b2"], (_, __, released) => released.has("b2"));
  await until(project, drive, "the second builder's worktree was taken away", async () => {
    return (await project.agent("b2")).cleanedAt !== null;
  });
}

type Stored = (names: ReadonlySet<string>, stopping: ReadonlySet<string>, released: ReadonlySet<string>) => boolean;

/**
 * Types one line. When it is killed, a person looks how things stand, and types it again only if it left no trace.
 */
async function type(
  project: TestProject,
  drive: Drive,
  line: TypedLine,
  words: readonly string[],
  isStored: Stored,
): Promise<void> {
  const command = { env: { OVERSTORY_PROJECT_ROOT: project.root, ...drive.env(line) } };
  const answer = await project.ovWith(command, line, ...words);
  if (answer.code === 0) return;
  const told = `ov ${line} exited ${answer.code}: ${answer.out}${answer.err}`;
  if (answer.code !== killedCode) throw new Error(told);
  const agents = await project.read((tx) => tx.agents.list({}));
  const names = (keep: (agent: (typeof agents)[number]) => boolean): Set<string> =>
    new Set(agents.filter(keep).map(({ name }) => name));
  const stored = isStored(
    names(() => true),
    names((agent) => agent.stopRequestedBy !== null || hasEnded(agent)),
    names((agent) => agent.releasedAt !== null),
  );
  if (stored) await project.json("status");
  else await project.json(line, ...words);
}

async function until(
  project: TestProject,
  drive: Drive,
  what: string,
  condition: () => Promise<boolean>,
): Promise<void> {
  let helped = false;
  await project.until(what, async () => {
    if (!helped && drive.needsPerson()) {
      helped = true;
      await project.json("status");
    }
    return condition();
  });
}

async function ended(project: TestProject, name: string): Promise<boolean> {
  const agent = await project.read((tx) => tx.agents.byName(name));
  return agent !== undefined && hasEnded(agent);
}
