import { describe, expect, test } from "bun:test";
import { Failure, type FailureData, failureOf } from "../../domain/failure.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { codes, type Description, listed } from "./description.ts";
import { exitMeanings, exits } from "./exits.ts";
import { describeFailure } from "./failures.ts";
import { describeRefusal } from "./refusals.ts";

type OneOfEach = { [K in Refusal["kind"]]: Extract<Refusal, { kind: K }> };

/** One of every kind; a new kind does not compile until it stands here. */
const refusals: OneOfEach = {
  invalid: invalid("type", "is unknown", { value: "stauts", allowed: ["status", "question"] }),
  "not-found": notFound("group", "g9"),
  "not-allowed": { kind: "not-allowed", action: "stop lead-1", caller: "builder-1", why: "it is not its child" },
  "unknown-token": { kind: "unknown-token" },
  "token-elsewhere": { kind: "token-elsewhere", over: "process" },
  busy: { kind: "busy", what: "the merge queue" },
  "changed-outside": { kind: "changed-outside", file: ".overstory/config.yaml" },
  "not-served": { kind: "not-served" },
  "not-importable": { kind: "not-importable", why: "it still runs: the watchdog (pid 7)", next: "kill 7" },
  "name-taken": { kind: "name-taken", name: "b1", state: "working" },
  "too-deep": { kind: "too-deep", depth: 3, limit: 2, limitFrom: { key: "agents.maxDepth", source: null } },
  "run-full": {
    kind: "run-full",
    run: "r1",
    agents: 11,
    limit: 10,
    limitFrom: { key: "agents.maxSessionsPerRun", source: "/p/.overstory/config.local.yaml" },
  },
  "parent-full": {
    kind: "parent-full",
    parent: "lead-1",
    children: 5,
    limit: 5,
    limitFrom: { flag: "--max-agents", of: "this sling" },
  },
  "parent-ended": { kind: "parent-ended", parent: "lead-1", state: "zombie" },
  "may-not-spawn": { kind: "may-not-spawn", parent: "scout-1", capability: "builder", may: [] },
  "recipient-ended": { kind: "recipient-ended", name: "b1", state: "completed", reopening: ["dispatch", "question"] },
  "no-recipients": { kind: "no-recipients", address: "@builders", why: "no builder is alive" },
  "hop-limit": { kind: "hop-limit", thread: "t1", limit: 20 },
  "committer-unknown": { kind: "committer-unknown", said: "fatal: no email was given" },
  unconfined: { kind: "unconfined", problem: "bubblewrap (bwrap) is not installed" },
  "runtime-unavailable": {
    kind: "runtime-unavailable",
    runtime: "claude",
    program: "claude",
    problem: { kind: "missing" },
  },
  "rate-limited": { kind: "rate-limited", sender: "b1", limit: 30, per: "minute", retryAfterMs: 1500 },
  "type-not-yours": { kind: "type-not-yours", type: "merged", capability: "scout", allowed: ["status"] },
  "delivery-state": { kind: "delivery-state", id: "m1", state: "read", wanted: "claimed" },
  "scope-overlap": {
    kind: "scope-overlap",
    owner: "b2",
    wanted: "src/a.ts",
    owned: "src/**",
    all: [{ owner: "b2", wanted: "src/a.ts", owned: "src/**", shared: false }],
  },
  "agents-live": { kind: "agents-live", names: ["b1", "b2"] },
  "not-recoverable": { kind: "not-recoverable", name: "b1", why: "it is in_turn" },
  "task-held": { kind: "task-held", task: "T1", holder: "b1" },
  "task-status": { kind: "task-status", task: "T1", status: "closed", wanted: ["open", "in_progress"] },
  "task-blocked": { kind: "task-blocked", task: "T1", by: ["T2", "T3"] },
  "dependency-cycle": { kind: "dependency-cycle", path: ["T1", "T2", "T1"] },
  "group-ambiguous": { kind: "group-ambiguous", name: "g", ids: ["g1", "g2"] },
  "group-member": { kind: "group-member", group: "g1", task: "T1", problem: "already" },
  "group-would-be-empty": { kind: "group-would-be-empty", group: "g1" },
  "run-open": {
    kind: "run-open",
    run: "run-1",
    agents: ["b1"],
    branches: [],
    tasks: ["T1"],
    criteria: [2],
    open: [
      { what: "task T1 is open: One", fix: "have it done: ov sling T1" },
      { what: "builder b1 is not released (submitted)", fix: "let it go: ov release b1" },
    ],
    mayForce: true,
    which: "",
  },
  "merge-status": { kind: "merge-status", entry: 3, branch: "overstory/b1/T1", status: "merged", wanted: ["pending"] },
  "uncommitted-rest": {
    kind: "uncommitted-rest",
    agent: "b1",
    branch: "overstory/b1/T1",
    files: ["a.txt"],
    hasCommits: true,
  },
  "commits-off-branch": {
    kind: "commits-off-branch",
    agent: "b1",
    branch: "overstory/b1/T1",
    commits: 1,
    subjects: '"dates: parse them"',
    place: "at 1234567890ab, on no branch",
    hasCommits: true,
    fix: "put them on its branch: git checkout overstory/b1/T1",
  },
  "work-in-snapshot": {
    kind: "work-in-snapshot",
    agent: "b1",
    branch: "overstory/b1/T1",
    snapshot: "snap/b1/1/2",
    files: ["a.txt", "b.txt"],
    commits: 0,
    subjects: "",
    hasCommits: false,
    fix: "put it on its branch: ov snapshots restore snap/b1/1/2 --branch kept/b1-1-2",
  },
  "no-own-commits": { kind: "no-own-commits", agent: "b1", branch: "overstory/b1/T1" },
  "merge-moved": { kind: "merge-moved", entry: 3, branch: "overstory/b1/T1" },
  "merge-queued": { kind: "merge-queued", entry: 3, branch: "overstory/b1/T1", instead: 4 },
  "nothing-to-undo": { kind: "nothing-to-undo", what: "op-1", why: "it was undone before" },
  "no-current-run": { kind: "no-current-run" },
};

const pinned = ({ kind }: { kind: string }, { code, exit, retryable }: Description): string =>
  `${kind} ${code} ${exit}${retryable ? " retryable" : ""}`;

describe("refusals", () => {
  test("codes, exit codes and retryability are pinned", () => {
    expect(Object.values(refusals).map((refusal) => pinned(refusal, describeRefusal(refusal)))).toEqual([
      "invalid VALIDATION_ERROR 2",
      "not-found GROUP_ERROR 7",
      "not-allowed PERMISSION_ERROR 8",
      "unknown-token PERMISSION_ERROR 8",
      "token-elsewhere PERMISSION_ERROR 8",
      "busy BUSY_ERROR 6 retryable",
      "changed-outside CONFIG_ERROR 6",
      "not-served BUSY_ERROR 6 retryable",
      "not-importable LIFECYCLE_ERROR 2",
      "name-taken AGENT_ERROR 2",
      "too-deep HIERARCHY_VIOLATION 2",
      "run-full AGENT_ERROR 6 retryable",
      "parent-full AGENT_ERROR 6 retryable",
      "parent-ended LIFECYCLE_ERROR 2",
      "may-not-spawn HIERARCHY_VIOLATION 8",
      "recipient-ended MAIL_ERROR 2",
      "no-recipients MAIL_ERROR 2",
      "hop-limit MAIL_ERROR 2",
      "committer-unknown AGENT_ERROR 3",
      "unconfined AGENT_ERROR 3",
      "runtime-unavailable AGENT_ERROR 3",
      "rate-limited MAIL_ERROR 6 retryable",
      "type-not-yours PERMISSION_ERROR 8",
      "delivery-state MAIL_ERROR 2",
      "scope-overlap AGENT_ERROR 2",
      "agents-live BUSY_ERROR 6",
      "not-recoverable AGENT_ERROR 2",
      "task-held TASK_ERROR 6 retryable",
      "task-status TASK_ERROR 2",
      "task-blocked TASK_ERROR 2",
      "dependency-cycle TASK_ERROR 2",
      "group-ambiguous GROUP_ERROR 2",
      "group-member GROUP_ERROR 2",
      "group-would-be-empty GROUP_ERROR 2",
      "run-open LIFECYCLE_ERROR 2",
      "merge-status MERGE_ERROR 2",
      "uncommitted-rest MERGE_ERROR 2",
      "commits-off-branch MERGE_ERROR 2",
      "work-in-snapshot MERGE_ERROR 2",
      "no-own-commits MERGE_ERROR 2",
      "merge-moved MERGE_ERROR 2",
      "merge-queued MERGE_ERROR 2",
      "nothing-to-undo MERGE_ERROR 7",
      "no-current-run LIFECYCLE_ERROR 7",
    ]);
  });

  test("every message says what it affected, and every hint and detail is filled in", () => {
    for (const refusal of Object.values(refusals)) {
      const { message, hint, details } = describeRefusal(refusal);
      expect(message).toMatch(/nothing was changed|no agent was started|the message was not sent/);
      expect(hint).toBeString();
      expect(`${message} ${hint}`).not.toMatch(/undefined|\[object|NaN/);
      expect(details.kind).toBe(refusal.kind);
    }
  });

  test("what is not found names its noun's code, and the nearest name when there is one", () => {
    expect(describeRefusal(notFound("agent", "bbo", "bob"))).toMatchObject({
      code: "AGENT_ERROR",
      exit: 7,
      hint: 'did you mean "bob"?',
      details: { agentName: "bbo", capability: null },
    });
    expect(describeRefusal(notFound("message", "m9"))).toMatchObject({
      code: "MAIL_ERROR",
      details: { messageId: "m9" },
    });
    expect(describeRefusal(notFound("task", "T9"))).toMatchObject({
      code: "TASK_ERROR",
      hint: "see what there is: ov task list",
    });
  });

  test("a task that is held names how it goes to another agent", () => {
    expect(describeRefusal(refusals["task-held"]).hint).toContain("then sling again: ov stop b1");
  });

  test("an invalid value shows the typed word and the allowed ones", () => {
    expect(describeRefusal(refusals.invalid)).toMatchObject({
      message: 'type is unknown (got "stauts"); nothing was changed',
      hint: "use status or question",
      details: { field: "type", value: "stauts", allowed: ["status", "question"] },
    });
    expect(describeRefusal(invalid("agent", "has ended (submitted)", { value: "g2" }))).toMatchObject({
      message: 'agent "g2" has ended (submitted); nothing was changed',
      details: { field: "agent", value: "g2" },
    });
    expect(describeRefusal(invalid("id", "was answered before: yes", { value: "msg-1" }))).toMatchObject({
      message: '"msg-1" was answered before: yes; nothing was changed',
    });
    expect(describeRefusal(invalid("body", "is empty"))).toMatchObject({ details: { field: "body", value: null } });
    expect(describeRefusal(invalid("type", "is unknown", { nearest: "status" })).hint).toBe('did you mean "status"?');
  });

  test("an absent member of a group is not found, an existing one is wrong usage", () => {
    expect(describeRefusal({ ...refusals["group-member"], problem: "absent" })).toMatchObject({ exit: 7 });
  });
});

describe("failures", () => {
  const failures: { [K in FailureData["kind"]]: Extract<FailureData, { kind: K }> } = {
    "not-initialised": { kind: "not-initialised", root: "/p" },
    "nested-repository": { kind: "nested-repository", root: "/p/inner", outer: "/p" },
    "config-invalid": {
      kind: "config-invalid",
      path: "/p/.overstory/config.yaml",
      problems: [
        { field: "agents.maxDepth", problem: "must be a number", line: 4 },
        { field: "runtime", problem: "is unknown" },
      ],
    },
    "no-such-directory": { kind: "no-such-directory", path: "/p", isFile: false },
    "not-a-git-repository": { kind: "not-a-git-repository", path: "/p" },
    "inside-git-directory": { kind: "inside-git-directory", path: "/p/.git" },
    "line-break-in-path": { kind: "line-break-in-path", path: "/p\nq" },
    "bare-repository": { kind: "bare-repository", path: "/p" },
    "repository-unusable": { kind: "repository-unusable", path: "/p", problem: "dubious ownership", advice: null },
    "project-copied": { kind: "project-copied", root: "/q", original: "/p" },
    "store-lost": { kind: "store-lost", path: "/p/s.db", backup: "2026" },
    "store-index-lost": { kind: "store-index-lost", path: "/p/s.db", files: ["/p/s.db-shm"], holders: [42] },
    "store-corrupt": { kind: "store-corrupt", path: "/p/s.db", problem: "malformed", backup: null },
    "store-too-new": { kind: "store-too-new", path: "/p/s.db", found: 9, known: 7 },
    "store-read-only": { kind: "store-read-only", path: "/p/s.db" },
    "store-busy": { kind: "store-busy", path: "/p/s.db", waitedMs: 5000 },
    "unusable-file": { kind: "unusable-file", path: "/p/project.json", problem: "it is a pipe" },
    "not-a-directory": { kind: "not-a-directory", path: "/p/.git/ov-state" },
    "no-access": { kind: "no-access", path: "/p/s.db", problem: "EACCES: permission denied" },
    "worktree-damaged": { kind: "worktree-damaged", path: "/p/w/b1", problem: "bad tree object HEAD" },
    "program-missing": { kind: "program-missing", program: "git" },
    "disk-full": { kind: "disk-full", path: "/p/s.db" },
    "signing-failed": { kind: "signing-failed", problem: "no secret key" },
    "filters-not-ready": {
      kind: "filters-not-ready",
      filters: [{ name: "lfs", problem: "unconfirmed", command: "git-lfs filter-process" }],
    },
    "commit-refused": { kind: "commit-refused", commit: "a".repeat(40), problem: "an object is missing" },
    "engine-unreachable": { kind: "engine-unreachable", problem: "nobody listens" },
    unexpected: { kind: "unexpected", problem: "boom" },
  };

  test("codes, exit codes and retryability are pinned", () => {
    expect(Object.values(failures).map((failure) => pinned(failure, describeFailure(failure)))).toEqual([
      "not-initialised CONFIG_ERROR 3",
      "nested-repository CONFIG_ERROR 3",
      "config-invalid CONFIG_ERROR 3",
      "no-such-directory CONFIG_ERROR 3",
      "not-a-git-repository WORKTREE_ERROR 3",
      "inside-git-directory WORKTREE_ERROR 3",
      "line-break-in-path WORKTREE_ERROR 3",
      "bare-repository WORKTREE_ERROR 3",
      "repository-unusable WORKTREE_ERROR 3",
      "project-copied CONFIG_ERROR 3",
      "store-lost STORE_ERROR 3",
      "store-index-lost BUSY_ERROR 6 retryable",
      "store-corrupt STORE_ERROR 3",
      "store-too-new STORE_ERROR 3",
      "store-read-only STORE_ERROR 3",
      "store-busy BUSY_ERROR 6 retryable",
      "unusable-file CONFIG_ERROR 3",
      "not-a-directory CONFIG_ERROR 3",
      "no-access PERMISSION_ERROR 8",
      "worktree-damaged WORKTREE_ERROR 3",
      "program-missing CONFIG_ERROR 3",
      "disk-full BUSY_ERROR 6 retryable",
      "signing-failed CONFIG_ERROR 3",
      "filters-not-ready CONFIG_ERROR 3",
      "commit-refused WORKTREE_ERROR 3",
      "engine-unreachable ENGINE_ERROR 6 retryable",
      "unexpected INTERNAL_ERROR 1",
    ]);
  });

  test("options that were offered are shown as a shell takes them", () => {
    const refusal = {
      kind: "invalid",
      field: "option",
      problem: "was not offered",
      allowed: ["ja, blau", "nein"],
    } as const;
    expect(describeRefusal(refusal).hint).toBe("use 'ja, blau' or nein");
  });

  test("every wrong setting is listed", () => {
    const variable = "OVERSTORY__AGENTS__MAX_DEPTH";
    const problems = [{ field: "agents.maxDepth", problem: "must be a number", file: variable }];
    expect(describeFailure({ kind: "config-invalid", path: "/p/.overstory/config.yaml", problems })).toMatchObject({
      message: `the environment variable ${variable} cannot be used; nothing was changed\n  agents.maxDepth must be a number`,
      hint: `give it another value, or do without: unset ${variable}`,
    });
    expect(describeFailure(failures["config-invalid"])).toMatchObject({
      message:
        "/p/.overstory/config.yaml cannot be used; nothing was changed\n  agents.maxDepth must be a number (line 4)\n  runtime is unknown",
      details: { configPath: "/p/.overstory/config.yaml", field: "agents.maxDepth" },
    });
  });

  test("anything thrown becomes a failure, and a failure stays what it is", () => {
    expect(failureOf(new Failure(failures["store-busy"]))).toEqual(failures["store-busy"]);
    expect(failureOf(new Error("boom"))).toEqual({ kind: "unexpected", problem: "boom" });
    expect(failureOf("text")).toEqual({ kind: "unexpected", problem: "text" });
    const full = Object.assign(new Error("no space left"), { code: "ENOSPC", path: "/p/x" });
    expect(failureOf(full)).toEqual({ kind: "disk-full", path: "/p/x" });
    const cause = new Error("inner");
    expect(new Failure(failures.unexpected, { cause })).toMatchObject({ name: "Failure", message: "boom", cause });
    expect(describeFailure(failureOf(new Error("")))).toMatchObject({ message: "something failed without saying why" });
  });
});

test("the exit codes are the documented ones, each with its meaning", () => {
  expect(Object.values(exits)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 124, 130]);
  expect(Object.keys(exitMeanings).map(Number)).toEqual(Object.values(exits));
  expect(new Set(codes).size).toBe(codes.length);
});

test("a list reads as prose", () => {
  expect([[], ["a"], ["a", "b"], ["a", "b", "c"]].map((items) => listed(items))).toEqual([
    "nothing",
    "a",
    "a or b",
    "a, b or c",
  ]);
});

test("a refusal about a merge that was taken out, or an agent that mail cannot reopen, names the command that helps", () => {
  const merge = { ...refusals["merge-status"], status: "reverted" };
  expect(describeRefusal(merge).hint).toContain("ov merge --branch overstory/b1/T1");
  const ended = { ...refusals["recipient-ended"], state: "zombie", reopening: [] };
  expect(describeRefusal(ended).hint).toBe("to let it go on: ov recover b1");
});
