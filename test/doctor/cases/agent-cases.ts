import { dead } from "../doctor.world.ts";
import { at, type Case, putMail, putWait } from "./planting.ts";

/** Agents, waits, tasks, links. */
export const agentCases: readonly Case[] = [
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
    finds: "mail-without-reader:ghost/",
    make: (w) => putMail(w, "mail-4", "ghost", { state: "queued" }),
  },
];
