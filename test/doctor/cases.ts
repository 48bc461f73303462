import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { linuxProcesses } from "../../src/host/processes.ts";
import { type DoctorWorld, dead, old } from "./doctor.world.ts";

/** One way in which things do not fit together: how it is made, and the finding that it must give. */
export interface Case {
  readonly name: string;
  /** The id of the finding, or its beginning. */
  readonly finds: string | ((world: DoctorWorld) => string);
  readonly make: (world: DoctorWorld) => Promise<unknown> | unknown;
}

const missing = "e".repeat(40);
const at = 1_790_000_000_000;

const agentId = (world: DoctorWorld, name: string): string =>
  String(world.ask("SELECT id FROM agents WHERE name = ? ORDER BY generation DESC", name));
const runId = (world: DoctorWorld): string => String(world.ask("SELECT id FROM runs"));
const settledTurn = (world: DoctorWorld, name: string): string =>
  String(world.ask("SELECT id FROM turns WHERE agent_name = ? AND status = 'settled' ORDER BY ended_at", name));
const worktree = (world: DoctorWorld, name: string): string => join(world.root, ".overstory", "worktrees", name);
const branchOf = (world: DoctorWorld, name: string): string =>
  String(world.ask("SELECT branch FROM agents WHERE name = ? ORDER BY generation DESC", name));

function putTurn(world: DoctorWorld, id: string, agent: string, status: string): void {
  world.put("turns", {
    id,
    agent_id: agentId(world, agent),
    agent_name: agent,
    run_id: runId(world),
    trigger: "mail",
    status,
    attempt: 1,
    not_before: 0,
    fence: 1,
    output_offset: 0,
    output_lines: 0,
    queued_at: at,
  });
}

interface PutProcess {
  readonly role: string;
  readonly agent?: string;
  readonly turn?: string | null;
  readonly alive?: boolean;
}

function putProcess(world: DoctorWorld, id: string, { role, agent, turn = null, alive = false }: PutProcess): void {
  const { pid, startToken, bootId } = alive ? world.sleeper() : dead;
  const agent_id = agent === undefined ? null : agentId(world, agent);
  world.put("processes", {
    id,
    role,
    agent_id,
    turn_id: turn,
    pid,
    start_token: startToken,
    boot_id: bootId,
    started_at: at,
  });
}

const putLease = (world: DoctorWorld, name: string, process: string | null): void =>
  world.sql("INSERT OR REPLACE INTO leases (name, fence, beat, process_id) VALUES (?, 7, 3, ?)", name, process);

const putToken = (world: DoctorWorld, digest: string, agent: string, turn: string | null): void =>
  world.put("tokens", { digest, agent_id: agentId(world, agent), turn_id: turn, created_at: at });

const putWait = (world: DoctorWorld, agent: string, kind: string, ref: string): void =>
  world.put("waits", { agent_name: agent, kind, ref, since: at });

/** A message of the operator that the agent has read, with a delivery as it is given. */
function putMail(
  world: DoctorWorld,
  id: string,
  to: string,
  delivery: Readonly<Record<string, string | number | null>>,
): number {
  world.put("messages", {
    id,
    run_id: runId(world),
    from_agent: "operator",
    address: to,
    subject: id,
    body: id,
    type: "status",
    priority: "normal",
    thread_id: id,
    hop: 0,
    expects_reply: 0,
    verified: 1,
    created_at: at,
  });
  const seq = Number(world.ask("SELECT seq FROM messages WHERE id = ?", id));
  world.put("deliveries", {
    message_seq: seq,
    to_agent: to,
    priority_rank: 2,
    wake: 0,
    attempts: 0,
    not_before: 0,
    redelivered: 0,
    updated_at: at,
    ...delivery,
  });
  return seq;
}

function putMerge(world: DoctorWorld, branch: string, more: Readonly<Record<string, string | number | null>>): number {
  world.put("merge_queue", {
    branch,
    head_commit: missing,
    target_branch: "main",
    run_id: runId(world),
    files_modified: "[]",
    depends_on: "[]",
    priority: 2,
    source: "cli",
    enqueued_by: "operator",
    enqueued_at: at,
    status: "pending",
    approval: "waiting",
    attempts: 0,
    not_before: 0,
    updated_at: at,
    ...more,
  });
  return Number(world.ask("SELECT MAX(id) FROM merge_queue"));
}

/** A commit that holds a string and that no ref reaches yet. */
async function plantCommit(world: DoctorWorld, token: string): Promise<string> {
  world.planted.add(token);
  const file = join(world.project.home, "planted");
  writeFileSync(file, `${token}\n`);
  const blob = (await world.git("hash-object", "-w", file)).trim();
  const index = { GIT_INDEX_FILE: join(world.project.home, "planted.index") };
  const run = (...args: string[]): string => {
    const done = Bun.spawnSync(["git", ...args], { cwd: world.root, env: { ...world.project.env, ...index } });
    if (done.exitCode !== 0) throw new Error(done.stderr.toString());
    return done.stdout.toString().trim();
  };
  run("read-tree", "--empty");
  run("update-index", "--add", "--cacheinfo", `100644,${blob},planted.txt`);
  return run("commit-tree", run("write-tree"), "-m", token);
}

function plantFile(world: DoctorWorld, path: string, token: string): void {
  world.planted.add(token);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "planted.txt"), `${token}\n`);
}

const ref = async (world: DoctorWorld, name: string, token: string): Promise<void> => {
  await world.git("update-ref", name, await plantCommit(world, token));
};

/** Turns, processes, leases, tokens, mail in hand, money set aside. */
const turnCases: readonly Case[] = [
  {
    name: "a queued turn of an ended agent",
    finds: "queued-turn-of-ended-agent:turn-q",
    make: (w) => putTurn(w, "turn-q", "hands", "queued"),
  },
  {
    name: "a running turn of an ended agent",
    finds: "running-turn-of-ended-agent:turn-r",
    make: (w) => putTurn(w, "turn-r", "frees", "running"),
  },
  {
    name: "a running turn of an ended agent whose program lives",
    finds: "running-turn-of-ended-agent:turn-l",
    make: (w) => {
      putTurn(w, "turn-l", "hands2", "running");
      putProcess(w, "process-l", { role: "agent", agent: "hands2", turn: "turn-l", alive: true });
    },
  },
  {
    name: "the record of a supervisor that is gone",
    finds: "record-of-gone-process:process-s",
    make: (w) => putProcess(w, "process-s", { role: "supervisor", agent: "hands", turn: settledTurn(w, "hands") }),
  },
  {
    name: "the record of an agent's program that is gone",
    finds: "record-of-gone-process:process-a",
    make: (w) => putProcess(w, "process-a", { role: "agent", agent: "hands", turn: "turn-none" }),
  },
  {
    name: "the record of an engine that is gone",
    finds: "record-of-gone-process:process-e",
    make: (w) => putProcess(w, "process-e", { role: "engine" }),
  },
  {
    name: "the record of a gate that is gone",
    finds: "record-of-gone-gate:process-g",
    make: (w) => putProcess(w, "process-g", { role: "gate" }),
  },
  {
    name: "a gate that lives without an engine",
    finds: "gate-without-engine:process-h",
    make: (w) => putProcess(w, "process-h", { role: "gate", alive: true }),
  },
  {
    name: "a program that outlived its turn",
    finds: "process-of-ended-turn:process-o",
    make: (w) =>
      putProcess(w, "process-o", { role: "agent", agent: "waits", turn: settledTurn(w, "waits"), alive: true }),
  },
  {
    name: "a program of a turn that is not on record",
    finds: "process-of-ended-turn:process-n",
    make: (w) => putProcess(w, "process-n", { role: "agent", agent: "waits", turn: "turn-none", alive: true }),
  },
  {
    name: "a program of an ended agent",
    finds: "process-of-ended-turn:process-p",
    make: (w) => putProcess(w, "process-p", { role: "agent", agent: "frees", alive: true }),
  },
  {
    name: "the lease of an ended turn",
    finds: "lease-of-ended-turn:turn:",
    make: (w) => putLease(w, `turn:${settledTurn(w, "waits")}`, null),
  },
  {
    name: "the lease of a turn that is not on record",
    finds: "lease-of-ended-turn:turn:turn-none",
    make: (w) => putLease(w, "turn:turn-none", null),
  },
  {
    name: "the engine's lease in the hand of a process that is not on record",
    finds: "lease-of-the-dead:engine",
    make: (w) => putLease(w, "engine", "process-none"),
  },
  {
    name: "a token of an ended turn",
    finds: "token-of-ended-turn:aaaaaaaaaaaa",
    make: (w) => putToken(w, "a".repeat(64), "waits", settledTurn(w, "waits")),
  },
  {
    name: "a token of an ended agent",
    finds: "token-of-ended-turn:bbbbbbbbbbbb",
    make: (w) => putToken(w, "b".repeat(64), "hands", null),
  },
  {
    name: "a token of a turn that is not on record",
    finds: "token-of-ended-turn:cccccccccccc",
    make: (w) => putToken(w, "c".repeat(64), "waits", "turn-none"),
  },
  {
    name: "mail that an ended turn has claimed",
    finds: "mail-of-ended-turn:hands/",
    make: (w) =>
      putMail(w, "mail-1", "hands", {
        state: "claimed",
        turn_id: settledTurn(w, "hands"),
        claimed_by: settledTurn(w, "hands"),
      }),
  },
  {
    name: "mail that was handed to an ended turn and is not settled",
    finds: "mail-of-ended-turn:frees/",
    make: (w) =>
      putMail(w, "mail-2", "frees", {
        state: "delivered",
        turn_id: settledTurn(w, "frees"),
        claimed_by: settledTurn(w, "frees"),
      }),
  },
  {
    name: "mail that is claimed by no turn",
    finds: "mail-of-ended-turn:hands2/",
    make: (w) => putMail(w, "mail-3", "hands2", { state: "claimed", turn_id: "turn-none", claimed_by: "turn-none" }),
  },
  {
    name: "money set aside for an ended turn",
    finds: "reservation-of-ended-turn:turn-gone",
    make: (w) =>
      w.put("budget_reservations", {
        turn_id: "turn-gone",
        scope: "run",
        subject: runId(w),
        unit: "tokens",
        amount: 5,
      }),
  },
  {
    name: "a readable copy of a turn that does not run",
    finds: "mirror-of-ended-turn:hands",
    make: (w) => w.file("agents/hands/turn.pid", JSON.stringify({ ...dead, turnId: "turn-none" })),
  },
];

/** Agents, waits, tasks, links. */
const agentCases: readonly Case[] = [
  {
    name: "an end without a reason",
    finds: "end-without-outcome:hands@1",
    make: (w) => w.sql("UPDATE agents SET outcome = NULL WHERE name = 'hands'"),
  },
  {
    name: "a live agent with an end",
    finds: "end-of-live-agent:waits@1",
    make: (w) => w.sql("UPDATE agents SET ended_at = ? WHERE name = 'waits'", at),
  },
  {
    name: "a live agent that counts as released",
    finds: "release-of-live-agent:waits@1",
    make: (w) => w.sql("UPDATE agents SET released_at = ? WHERE name = 'waits'", at),
  },
  {
    name: "an agent of a parent that never was",
    finds: "agent-of-no-parent:waits",
    make: (w) => w.sql("UPDATE agents SET parent_name = 'ghost' WHERE name = 'waits'"),
  },
  {
    name: "a wait for a child that never was",
    finds: "wait-for-nothing:waits/child/ghost",
    make: (w) => putWait(w, "waits", "child", "ghost"),
  },
  {
    name: "a wait for a child that has ended",
    finds: "wait-for-nothing:waits/child/hands",
    make: (w) => putWait(w, "waits", "child", "hands"),
  },
  {
    name: "a wait for the answer to a message that is gone",
    finds: "wait-for-nothing:waits/reply/m-none",
    make: (w) => putWait(w, "waits", "reply", "m-none"),
  },
  {
    name: "a wait for a merge that is over",
    finds: "wait-for-nothing:waits/merge/merge:99",
    make: (w) => putWait(w, "waits", "merge", "merge:99"),
  },
  {
    name: "a wait for an approval that nobody is asked for",
    finds: "wait-for-nothing:waits/approval/merge:98",
    make: (w) => putWait(w, "waits", "approval", "merge:98"),
  },
  {
    name: "a wait of an agent that never was",
    finds: "wait-for-nothing:ghost/explicit/x",
    make: (w) => putWait(w, "ghost", "explicit", "x"),
  },
  {
    name: "a pause of a person who is gone",
    finds: "wait-for-nothing:waits/operator/attach:waits",
    make: (w) => putWait(w, "waits", "operator", "attach:waits"),
  },
  {
    name: "the removal of a worktree by a process that is gone",
    finds: "removal-of-the-dead:hands",
    make: (w) =>
      w.put("removals", {
        agent_name: "hands",
        pid: dead.pid,
        start_token: dead.startToken,
        boot_id: dead.bootId,
        created_at: at,
      }),
  },
  {
    name: "a task in the hand of a released agent",
    finds: "task-of-released-agent:T-held",
    make: async (w) => {
      w.sql("UPDATE tasks SET status = 'in_progress', claimed_by = 'frees' WHERE id = 'T-held'");
    },
  },
  {
    name: "a closed task that an agent holds",
    finds: "closed-task-held:T-closed",
    make: async (w) => {
      w.sql("UPDATE tasks SET status = 'closed', claimed_by = 'frees' WHERE id = 'T-closed'");
    },
  },
  {
    name: "a part of a task that does not exist",
    finds: "part-of-no-task:T-part",
    make: async (w) => {
      w.sql("UPDATE tasks SET parent_id = 'T-none' WHERE id = 'T-part'");
    },
  },
  {
    name: "a dependency on a task that does not exist",
    finds: "link-to-nothing:task_deps/T-part/T-none",
    make: (w) => w.put("task_deps", { task_id: "T-part", depends_on: "T-none" }),
  },
  {
    name: "a member of a group that does not exist",
    finds: "link-to-nothing:group_members/G-none/T-part",
    make: (w) => w.put("group_members", { group_id: "G-none", task_id: "T-part", position: 0 }),
  },
  {
    name: "a task that serves a criterion that does not exist",
    finds: "link-to-nothing:task_criteria/T-part/9",
    make: (w) => w.put("task_criteria", { task_id: "T-part", run_id: "run-none", number: 9 }),
  },
  {
    name: "a delivery of a message that does not exist",
    finds: "link-to-nothing:deliveries/99999/operator",
    make: (w) =>
      w.put("deliveries", {
        message_seq: 99_999,
        to_agent: "operator",
        state: "acked",
        priority_rank: 2,
        wake: 0,
        attempts: 0,
        not_before: 0,
        redelivered: 0,
        updated_at: at,
      }),
  },
  {
    name: "a token of an agent that does not exist",
    finds: "link-to-nothing:tokens/agent-none/",
    make: (w) => w.put("tokens", { digest: "d".repeat(64), agent_id: "agent-none", created_at: at }),
  },
  {
    name: "a transition of an agent that does not exist",
    finds: "link-to-nothing:transitions/agent-none/",
    make: (w) =>
      w.put("transitions", {
        agent_id: "agent-none",
        from_state: "booting",
        to_state: "in_turn",
        actor: "engine",
        reason: "r",
        created_at: at,
      }),
  },
  {
    name: "mail for an agent that never was",
    finds: "mail-for-nobody:ghost/",
    make: (w) => putMail(w, "mail-4", "ghost", { state: "queued" }),
  },
];

/** The queue, branches, refs, snapshots. */
const refCases: readonly Case[] = [
  {
    name: "a merge of a commit that git does not have",
    finds: "merge-of-missing-commit:",
    make: (w) => putMerge(w, "overstory/frees/x", {}),
  },
  {
    name: "a merge that no engine works on",
    finds: "merge-without-engine:",
    make: (w) => w.sql("UPDATE merge_queue SET status = 'gating' WHERE agent_name = 'hands'"),
  },
  {
    name: "an attempt that no engine works on",
    finds: "attempt-without-engine:attempt-x",
    make: (w) =>
      w.put("merge_attempts", {
        id: "attempt-x",
        train_id: "t",
        queue_ids: "[]",
        base_commit: missing,
        gate_results: "[]",
        started_at: at,
      }),
  },
  {
    name: "a merge whose branch was deleted",
    finds: "merge-without-branch:",
    make: (w) => w.git("update-ref", "-d", `refs/heads/${branchOf(w, "hands2")}`),
  },
  {
    name: "a live agent whose branch was deleted",
    finds: "agent-without-branch:waits",
    make: (w) => w.git("update-ref", "-d", `refs/heads/${branchOf(w, "waits")}`),
  },
  {
    name: "a run whose landing branch was deleted",
    finds: "run-without-landing-branch:",
    make: async (w) => {
      const landing = String(w.ask("SELECT landing_branch FROM runs"));
      const name = landing.slice("overstory/integration/".length);
      await w.git("update-ref", `refs/overstory/landing/${name}`, landing);
      await w.git("update-ref", "-d", `refs/heads/${landing}`);
    },
  },
  {
    name: "a branch of no agent",
    finds: "branch-of-nobody:overstory/ghost/work",
    make: (w) => ref(w, "refs/heads/overstory/ghost/work", "PLANT.branch"),
  },
  {
    name: "a landing branch of no run",
    finds: "branch-of-nobody:overstory/integration/none",
    make: (w) => ref(w, "refs/heads/overstory/integration/none", "PLANT.landing"),
  },
  {
    name: "the pin of a merge that does not exist",
    finds: "ref-of-nothing:refs/overstory/queue/999",
    make: (w) => ref(w, "refs/overstory/queue/999", "PLANT.queue"),
  },
  {
    name: "the backup of an operation that does not exist",
    finds: "ref-of-nothing:refs/overstory/backup/op-none",
    make: (w) => ref(w, "refs/overstory/backup/op-none", "PLANT.backup"),
  },
  {
    name: "the pin of a landing branch of no run",
    finds: "ref-of-nothing:refs/overstory/landing/none",
    make: (w) => ref(w, "refs/overstory/landing/none", "PLANT.landing-pin"),
  },
  {
    name: "the pin of an agent that never was",
    finds: "ref-of-nothing:refs/overstory/pin/ghost/heads/x",
    make: (w) => ref(w, "refs/overstory/pin/ghost/heads/x", "PLANT.pin"),
  },
  {
    name: "a ref that no version knows",
    finds: "ref-of-nothing:refs/overstory/other/x",
    make: (w) => ref(w, "refs/overstory/other/x", "PLANT.other"),
  },
  {
    name: "a ref whose object is gone",
    finds: "ref-without-object:refs/overstory/snap/waits/9/9",
    make: (w) => {
      const path = join(w.root, ".git", "refs", "overstory", "snap", "waits", "9");
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, "9"), `${missing}\n`);
    },
  },
  {
    name: "a snapshot whose ref is gone",
    finds: "snapshot-without-ref:refs/overstory/snap/waits/5/1",
    make: async (w) =>
      w.put("snapshots", {
        agent_name: "waits",
        generation: 5,
        ref: "refs/overstory/snap/waits/5/1",
        commit_id: await plantCommit(w, "PLANT.snapshot"),
        reason: "r",
        skipped: "[]",
        created_at: at,
      }),
  },
  {
    name: "a snapshot of which nothing is left",
    finds: "snapshot-of-nothing:refs/overstory/snap/waits/6/1",
    make: (w) =>
      w.put("snapshots", {
        agent_name: "waits",
        generation: 6,
        ref: "refs/overstory/snap/waits/6/1",
        commit_id: "d".repeat(40),
        reason: "r",
        skipped: "[]",
        created_at: at,
      }),
  },
  {
    name: "a snapshot that is not on record",
    finds: "snapshot-not-on-record:refs/overstory/snap/waits/7/1",
    make: (w) => ref(w, "refs/overstory/snap/waits/7/1", "PLANT.unrecorded"),
  },
  {
    name: "a rescue that is not on record",
    finds: "snapshot-not-on-record:refs/overstory/rescue/ghost-1",
    make: (w) => ref(w, "refs/overstory/rescue/ghost-1", "PLANT.rescue"),
  },
];

/** Worktrees, checkouts of gates, git's records and locks. */
const placeCases: readonly Case[] = [
  {
    name: "a live agent without its worktree",
    finds: "agent-without-worktree:waits",
    make: (w) => rmSync(worktree(w, "waits"), { recursive: true }),
  },
  {
    name: "a directory in the place of a worktree",
    finds: "worktree-replaced:waits2",
    make: (w) => {
      renameSync(worktree(w, "waits2"), join(w.project.home, "moved"));
      plantFile(w, worktree(w, "waits2"), "PLANT.stand-in");
    },
  },
  {
    name: "a worktree without its link",
    finds: "worktree-without-link:hands2",
    make: (w) => rmSync(join(worktree(w, "hands2"), ".git")),
  },
  {
    name: "a worktree of no agent",
    finds: "worktree-of-nobody:stray",
    make: async (w) => {
      await w.git("worktree", "add", "--quiet", "-b", "overstory/stray/x", worktree(w, "stray"));
      plantFile(w, worktree(w, "stray"), "PLANT.stray");
    },
  },
  {
    name: "a directory of no agent",
    finds: "directory-of-nobody:lost",
    make: (w) => plantFile(w, worktree(w, "lost"), "PLANT.directory"),
  },
  {
    name: "a file among the worktrees",
    finds: "directory-of-nobody:note",
    make: (w) => writeFileSync(worktree(w, "note"), ""),
  },
  {
    name: "a worktree that was half removed",
    finds: "half-made-worktree:.x.removing",
    make: (w) => plantFile(w, worktree(w, ".x.removing"), "PLANT.removing"),
  },
  {
    name: "a worktree that was half made",
    finds: "half-made-worktree:.y.preparing",
    make: (w) => plantFile(w, worktree(w, ".y.preparing"), "PLANT.preparing"),
  },
  {
    name: "git's record of a worktree that is gone",
    finds: "record-of-no-worktree:",
    make: async (w) => {
      const path = worktree(w, "vanished");
      await w.git("worktree", "add", "--quiet", "--detach", path);
      w.planted.add("PLANT.vanished");
      writeFileSync(join(path, "v.txt"), "PLANT.vanished\n");
      await w.git("-C", path, "add", "v.txt");
      await w.git("-C", path, "commit", "--quiet", "-m", "vanished");
      rmSync(path, { recursive: true });
    },
  },
  {
    name: "a checkout of gates that is none",
    finds: "gate-place-broken:7",
    make: (w) => mkdirSync(join(w.root, ".overstory", "merge-worktrees", "7"), { recursive: true }),
  },
  {
    name: "git's record of a checkout of gates that is gone",
    finds: (w) => `record-of-no-worktree:${join(w.root, ".overstory", "merge-worktrees", "8")}`,
    make: async (w) => {
      const path = join(w.root, ".overstory", "merge-worktrees", "8");
      await w.git("worktree", "add", "--quiet", "--detach", path);
      rmSync(path, { recursive: true });
    },
  },
  {
    name: "a lock of the index that nobody holds",
    finds: "stale-git-lock:",
    make: (w) => {
      writeFileSync(join(w.root, ".git", "index.lock"), "");
      old(join(w.root, ".git", "index.lock"));
    },
  },
  {
    name: "a lock of an agent's index that nobody holds",
    finds: (w) => `stale-git-lock:${join(w.root, ".git", "worktrees", "hands", "index.lock")}`,
    make: (w) => {
      const path = join(w.root, ".git", "worktrees", "hands", "index.lock");
      writeFileSync(path, "");
      old(path);
    },
  },
  {
    name: "a lock of a ref that nobody holds",
    finds: (w) => `stale-git-lock:${join(w.root, ".git", "refs", "overstory", "x.lock")}`,
    make: (w) => {
      const path = join(w.root, ".git", "refs", "overstory", "x.lock");
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, "");
      old(path);
    },
  },
];

/** Files of the state directory. */
const fileCases: readonly Case[] = [
  {
    name: "a state directory that others can read",
    finds: "open-to-others:state",
    make: (w) => chmodSync(w.state, 0o755),
  },
  {
    name: "a database that others can read",
    finds: "open-to-others:overstory.db",
    make: (w) => chmodSync(join(w.state, "overstory.db"), 0o644),
  },
  {
    name: "a directory of variables that others can read",
    finds: "open-to-others:run/env",
    make: (w) => {
      mkdirSync(join(w.state, "run", "env"), { recursive: true });
      chmodSync(join(w.state, "run", "env"), 0o755);
    },
  },
  {
    name: "the notice of an engine that is gone",
    finds: "file-of-gone-process:engine.json",
    make: (w) => w.file("run/engine.json", JSON.stringify(dead)),
  },
  {
    name: "the record of a successor that is gone",
    finds: "file-of-gone-process:successor.json",
    make: (w) => w.file("run/successor.json", JSON.stringify(dead)),
  },
  {
    name: "a lock of a starter that is gone",
    finds: "file-of-gone-process:keeper.lock",
    make: (w) => w.file("run/keeper.lock", JSON.stringify(dead)),
  },
  {
    name: "a half written record of a keeper",
    finds: "file-of-gone-process:keeper.json",
    make: (w) => w.file("run/keeper.json", '{"pid":'),
  },
  {
    name: "scratch files of a killed operation",
    finds: "scratch-of-killed-operation:run/git/view-4194303-abc",
    make: (w) => {
      const path = join(w.state, "run", "git", "view-4194303-abc");
      mkdirSync(path, { recursive: true });
      old(path);
    },
  },
  {
    name: "a half written file",
    finds: "half-written-file:run/config.json.4194303.abc123.tmp",
    make: (w) => w.file("run/config.json.4194303.abc123.tmp"),
  },
  {
    name: "a draft of a lock",
    finds: "half-written-file:run/keeper.lock.4194303",
    make: (w) => w.file("run/keeper.lock.4194303"),
  },
  {
    name: "half a copy of the database",
    finds: "half-copied-database:overstory.db.moving",
    make: (w) => w.file("overstory.db.moving"),
  },
  {
    name: "a mark in the trash of nothing",
    finds: "mark-of-no-trash:trash/x.work",
    make: (w) => w.file("trash/x.work"),
  },
  {
    name: "files of an agent that never was",
    finds: "files-of-no-agent:agents/ghost",
    make: (w) => {
      w.planted.add("PLANT.files");
      w.file("agents/ghost/notes.md", "PLANT.files\n");
    },
  },
  {
    name: "logs of an agent that never was",
    finds: "files-of-no-agent:logs/ghost",
    make: (w) => mkdirSync(join(w.state, "logs", "ghost"), { recursive: true }),
  },
  {
    name: "the body of no message",
    finds: "body-of-no-message:abc.txt",
    make: (w) => {
      w.planted.add("PLANT.body");
      w.file("mail-blobs/abc.txt", "PLANT.body\n");
    },
  },
  { name: "variables of nobody", finds: "variables-of-nobody:env", make: (w) => w.file("run/env/env-x.json", "{}") },
  {
    name: "a plan of a move that no move of ours made",
    finds: "foreign-move-plan:",
    make: (w) => w.file("run/git/moves/abc.json", JSON.stringify({ checkout: w.root })),
  },
  {
    name: "the record of another project",
    finds: "state-of-other-project:project.json",
    make: async (w) => {
      const record = JSON.parse(await Bun.file(join(w.state, "project.json")).text());
      writeFileSync(join(w.state, "project.json"), JSON.stringify({ ...record, id: "project-other" }), { mode: 0o600 });
    },
  },
  {
    name: "a specification that is not shown",
    finds: "specification-not-shown:T-spec",
    make: async (w) => {
      rmSync(join(w.root, ".overstory", "specs", "T-spec.md"));
    },
  },
];

/** What can only be seen or mended without the others. */
const singleCases: readonly Case[] = [
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
    finds: "attached-by-nobody:waits",
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
];

/** Made together and mended together: they do not hide each other. */
export const batches: Readonly<Record<string, readonly Case[]>> = {
  "turns, processes, leases, tokens and mail": turnCases,
  "agents, waits, tasks and links": agentCases,
  "merges, branches, refs and snapshots": refCases,
  "worktrees, checkouts of gates and locks": placeCases,
  "files of the state directory": fileCases,
};

export const alone = singleCases;
