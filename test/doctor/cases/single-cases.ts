import { existsSync, mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { linuxProcesses } from "../../../src/host/processes.ts";
import { type DoctorWorld, old } from "../doctor.world.ts";
import { at, branchOf, type Case, putLease, putMail, putProcess, putWait, worktree } from "./planting.ts";

/** Moves the project's checkout to a commit with two more files, and dies between them. */
async function moveAndDie(world: DoctorWorld): Promise<void> {
  const { root, state, git } = world;
  const from = (await git("rev-parse", "HEAD")).trim();
  const text = join(state, "moved.txt");
  writeFileSync(text, "PLANT.moved\n");
  world.planted.add("PLANT.moved");
  const blob = (await git("hash-object", "-w", text)).trim();
  rmSync(text);
  const files = ["moved-1.txt", "moved-2.txt"];
  for (const file of files) await git("update-index", "--add", "--cacheinfo", `100644,${blob},${file}`);
  const tree = (await git("write-tree")).trim();
  await git("rm", "--quiet", "--cached", ...files);
  const to = (await git("commit-tree", tree, "-p", from, "-m", "moved")).trim();
  const script = join(import.meta.dir, "../../../testkit/move-and-die.ts");
  const scratch = join(state, "run", "git");
  const child = Bun.spawn([process.execPath, script, root, scratch, from, to, "promote.between-files", "1"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  await child.exited;
}

/** A process that is on record as the keeper, for longer than an engine needs to start. */
async function putKeeper(world: DoctorWorld): Promise<void> {
  const { pid, startToken, bootId } = world.sleeper();
  await Bun.sleep(16_000);
  world.file("run/keeper.json", JSON.stringify({ pid, startToken, bootId }));
}

const refFile = ({ root }: DoctorWorld, ...parts: string[]): string => join(root, ".git", "refs", ...parts);

/** Cases that can only be seen or mended without the others. */
export const singleCases: readonly Case[] = [
  { name: "a checkout that was left half-moved", finds: (w) => `half-moved-checkout:${w.root}`, make: moveAndDie },
  { name: "a keeper without an engine", finds: "keeper-without-engine", make: putKeeper },
  {
    name: "files staged for a move that never began",
    finds: "staged-for-no-move:run/git/moves/move-abc",
    make: (w) => {
      const path = join(w.state, "run", "git", "moves", "move-abc");
      mkdirSync(path, { recursive: true });
      old(path);
    },
  },
  {
    name: "the engine's lease in the hand of a process that is gone",
    finds: "lease-of-the-dead:engine",
    make: (w) => {
      putProcess(w, "process-z", { role: "engine" });
      putLease(w, "engine", "process-z");
    },
  },
  {
    name: "an agent taken over by a person who is gone",
    finds: "attached-without-process:waits",
    make: (w) => {
      putProcess(w, "process-t", { role: "agent", agent: "waits", turn: null });
      putLease(w, "attach:waits", "process-t");
      putWait(w, "waits", "operator", "attach:waits");
    },
  },
  {
    name: "a notice of an engine of another project",
    finds: "file-of-other-project:engine.json",
    make: (w) =>
      w.file(
        "run/engine.json",
        JSON.stringify({
          ...linuxProcesses.self(),
          socket: "/none",
          version: "0",
          place: { state: "/other", device: "1", inode: "1" },
        }),
      ),
  },
  {
    name: "an agent that counts as working without a turn",
    finds: "working-without-turn:waits",
    make: (w) => w.sql("UPDATE agents SET state = 'in_turn' WHERE name = 'waits'"),
  },
  {
    name: "mail that asks for a turn that nobody queued",
    finds: "mail-without-turn:waits2",
    make: (w) => putMail(w, "mail-5", "waits2", { state: "queued", wake: 1 }),
  },
  {
    name: "a rate limit without a turn after it",
    finds: "wait-for-nothing:waits/rate_limit/x",
    make: (w) => putWait(w, "waits", "rate_limit", "x"),
  },
  {
    name: "a check that no engine works on",
    finds: "check-without-engine:check-x",
    make: (w) =>
      w.put("checks", {
        id: "check-x",
        kind: "check",
        ref_name: "main",
        status: "running",
        request: '{"kind":"check"}',
        problem: "[]",
        attempts: 1,
        requested_by: "operator",
        created_at: at,
        updated_at: at,
      }),
  },
  {
    name: "the worktree of a released agent",
    finds: "worktree-of-released-agent:hands2",
    make: (w) => {
      if (!existsSync(worktree(w, "hands2"))) throw new Error("no worktree");
      w.sql("UPDATE merge_queue SET status = 'cancelled' WHERE agent_name = 'hands2'");
      w.sql("UPDATE agents SET released_at = ? WHERE name = 'hands2'", at);
      w.sql("DELETE FROM waits WHERE agent_name = 'hands2'");
      w.sql("UPDATE tasks SET claimed_by = NULL, status = 'open' WHERE claimed_by = 'hands2'");
    },
  },
  {
    name: "a stop that nobody finished",
    finds: "stop-unfinished:waits2",
    make: (w) => {
      w.sql("DELETE FROM turns WHERE agent_name = 'waits2' AND status = 'queued'");
      w.sql("UPDATE agents SET stop_requested_by = 'operator' WHERE name = 'waits2'");
    },
  },
  {
    name: "a branch whose file a power cut has emptied",
    finds: "agent-without-branch:waits",
    make: (w) => writeFileSync(refFile(w, "heads", branchOf(w, "waits")), ""),
  },
  {
    name: "a ref that git cannot read",
    finds: (w) => `unreadable-ref:${refFile(w, "overstory/pin/waits/heads/x")}`,
    make: (w) => {
      const path = refFile(w, "overstory/pin/waits/heads/x");
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "\0\0\0\0\n");
    },
  },
  {
    name: "a lock of the user's branch that was left",
    finds: (w) => `stale-git-lock:${refFile(w, "heads", "main.lock")}`,
    make: (w) => {
      writeFileSync(refFile(w, "heads", "main.lock"), "");
      old(refFile(w, "heads", "main.lock"));
    },
  },
  {
    name: "a worktree whose HEAD git cannot read",
    finds: "unreadable-worktree:waits/head",
    make: (w) => writeFileSync(join(w.root, ".git", "worktrees", "waits", "HEAD"), ""),
  },
  {
    name: "a worktree whose HEAD is gone, as a doctor that died may leave it",
    finds: "unreadable-worktree:waits/head",
    make: (w) => rmSync(join(w.root, ".git", "worktrees", "waits", "HEAD")),
  },
  {
    name: "a worktree whose index is gone",
    finds: "unreadable-worktree:waits/index",
    make: (w) => rmSync(join(w.root, ".git", "worktrees", "waits", "index")),
  },
  {
    name: "a worktree whose index git cannot read",
    finds: "unreadable-worktree:waits/index",
    make: (w) => writeFileSync(join(w.root, ".git", "worktrees", "waits", "index"), "nothing"),
  },
  {
    name: "a worktree of whose index only the beginning was written",
    finds: "unreadable-worktree:waits/index",
    make: (w) => {
      const path = join(w.root, ".git", "worktrees", "waits", "index");
      truncateSync(path, statSync(path).size - 30);
    },
  },
];
