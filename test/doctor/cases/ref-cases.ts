import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { at, branchOf, type Case, missing, plantCommit, putMerge, ref } from "./planting.ts";

/** The queue, branches, refs, snapshots. */
export const refCases: readonly Case[] = [
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
    finds: "branch-without-agent:overstory/ghost/work",
    make: (w) => ref(w, "refs/heads/overstory/ghost/work", "PLANT.branch"),
  },
  {
    name: "a landing branch of no run",
    finds: "branch-without-agent:overstory/integration/none",
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
    name: "a snapshot whose ref was moved",
    finds: "snapshot-at-other-commit:refs/overstory/snap/waits/8/1",
    make: async (w) => {
      await ref(w, "refs/overstory/snap/waits/8/1", "PLANT.moved");
      w.put("snapshots", {
        agent_name: "waits",
        generation: 8,
        ref: "refs/overstory/snap/waits/8/1",
        commit_id: await plantCommit(w, "PLANT.moved-from"),
        reason: "r",
        skipped: "[]",
        created_at: at,
      });
    },
  },
  {
    name: "a snapshot whose ref was moved and whose commit is gone",
    finds: "snapshot-at-other-commit:refs/overstory/snap/waits/9/1",
    make: async (w) => {
      await ref(w, "refs/overstory/snap/waits/9/1", "PLANT.left");
      w.put("snapshots", {
        agent_name: "waits",
        generation: 9,
        ref: "refs/overstory/snap/waits/9/1",
        commit_id: missing,
        reason: "r",
        skipped: "[]",
        created_at: at,
      });
    },
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
