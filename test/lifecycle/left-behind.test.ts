import { expect, test } from "bun:test";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { moveClock } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";
import { change, seat } from "../../testkit/worktrees-world.ts";

const dayMs = 24 * 60 * 60_000;

/** A file or, with a slash at its end, a directory that is two days old. */
function leave(path: string): string {
  mkdirSync(path.endsWith("/") ? path : dirname(path), { recursive: true });
  if (!path.endsWith("/")) writeFileSync(path, "left\n");
  const then = new Date(Date.now() - 2 * dayMs);
  utimesSync(path, then, then);
  return path;
}

async function deadPid(): Promise<number> {
  const child = Bun.spawn({ cmd: ["true"] });
  await child.exited;
  return child.pid;
}

test("what killed processes left behind goes with the next look of an engine, and what is in use stays", async () => {
  await using project = await makeProject();
  await seat(project, "ann", { state: "between_turns", outcome: null, endedAt: null });
  const dead = await deadPid();
  const state = (path: string): string => statePath(project.root, path);
  const left = [
    leave(state(`run/git/view-${dead}-abc/`)),
    leave(state(`run/git/link-${dead}-abc/`)),
    leave(join(project.env.TMPDIR ?? "", `ov-merge-${dead}-abc/`)),
    leave(join(project.root, ".git", "worktrees", "half-made/")),
    leave(state("run/env/env-orphan.json")),
    leave(state("mail-blobs/orphan.txt")),
  ];
  const used = [
    leave(state("run/env/env-ann.json")),
    leave(state("mail-blobs/used.txt")),
    leave(join(project.env.TMPDIR ?? "", `ov-merge-${process.pid}-abc/`)),
  ];
  const sent = await project.json("mail", "send", "--to", "operator", "--subject", "s", "--body", "b");
  await change(project, async (tx) => {
    const ann = await tx.agents.byName("ann");
    if (ann === undefined) throw new Error("no ann");
    await tx.agents.reserve({
      ...ann,
      id: "agent-bob",
      name: "bob",
      envFile: used[0] ?? "",
      branch: "overstory/bob/t",
    });
    const message = await tx.messages.get(String(sent.id));
    if (message === undefined) throw new Error("no message");
    await tx.messages.insert({ ...message, id: "with-a-blob", blobPath: "/moved/since/mail-blobs/used.txt" });
  });
  await moveClock(project, 60_000);
  await project.until("an engine has swept", async () => left.every((path) => !existsSync(path)));
  expect(used.filter((path) => !existsSync(path))).toEqual([]);
}, 120_000);

test("captured variables go with their agent when its worktree is cleaned, unless another agent was given them", async () => {
  await using project = await makeProject();
  const file = (name: string): string => leave(statePath(project.root, `run/env/${name}.json`));
  const [own, shared] = [file("env-own"), file("env-shared")];
  await seat(project, "ann", { envFile: own });
  await seat(project, "bob", { envFile: shared });
  await seat(project, "cat", { envFile: shared, state: "between_turns", outcome: null, endedAt: null });
  expect((await project.json("worktree", "clean")).cleaned).toHaveLength(2);
  expect([existsSync(own), existsSync(shared)]).toEqual([false, true]);
}, 120_000);

test("ov clean --all leaves no captured variables", async () => {
  await using project = await makeProject();
  const file = leave(statePath(project.root, "run/env/env-own.json"));
  await seat(project, "ann", { envFile: file });
  await project.json("clean", "--all", "--yes");
  expect(existsSync(file)).toBe(false);
}, 120_000);
