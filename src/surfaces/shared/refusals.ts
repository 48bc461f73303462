import type { InvalidInput, NotFound, Noun, Refusal } from "../../domain/refusal.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import { visibleLine } from "../../domain/text/visible.ts";
import { agentWords } from "./agent-refusals.ts";
import { type Code, type Description, listed, refusalDetails, rejected, unchanged, type Words } from "./description.ts";
import { exits } from "./exits.ts";

/** The one table from refusal to words, exit code and next command. A new kind does not compile until it has a row. */
export function describeRefusal(refusal: Refusal): Description {
  return { ...words(refusal), details: { kind: refusal.kind, ...refusalDetails(refusal) } };
}

/** What an agent can always do about a no: whether it may is a decision, which the operator is asked for directly. */
const ask = `ov mail send --to operator --type decision_gate --subject <what> --body <why> --payload '{"options":["yes","no"]}'`;

function words(refusal: Refusal): Words {
  switch (refusal.kind) {
    case "invalid":
      return invalidInput(refusal);
    case "not-found":
      return missing(refusal);
    case "not-allowed":
      return {
        ...denied,
        message: `${refusal.caller} may not ${refusal.action}: ${refusal.why}; ${unchanged}`,
        hint: `ask for it: ${ask}`,
      };
    case "unknown-token":
      return {
        ...denied,
        message: `the identity in OVERSTORY_TOKEN belongs to no live agent; ${unchanged}`,
        hint: "a token ends with its turn; an agent that still runs goes on in its next one",
      };
    case "token-elsewhere":
      return {
        ...denied,
        message: `the token in OVERSTORY_TOKEN does not count here: ${elsewhere[refusal.over]}; ${unchanged}`,
        hint: "a token is of use only in the turn that it was given to",
      };
    case "busy":
      return {
        code: "BUSY_ERROR",
        exit: exits.busy,
        retryable: true,
        message: `${refusal.what} is busy; ${unchanged}`,
        hint: "try the same command again in a moment",
      };
    case "changed-outside":
      return {
        code: "CONFIG_ERROR",
        exit: exits.busy,
        retryable: false,
        message: `${refusal.file} changed outside since it was read; ${unchanged}`,
        hint: "read it again and compare",
      };
    case "not-served":
      return {
        code: "BUSY_ERROR",
        exit: exits.busy,
        retryable: true,
        message: `the web page is not served; ${unchanged}`,
        hint: "start it: ov serve",
      };
    case "not-importable":
      return {
        ...rejected("LIFECYCLE_ERROR"),
        message: `the earlier project was not imported: ${refusal.why}; ${unchanged}`,
        hint: refusal.next,
      };
    case "runtime-unavailable":
    case "unconfined":
    case "committer-unknown":
    case "name-taken":
    case "too-deep":
    case "run-full":
    case "parent-full":
    case "parent-ended":
    case "may-not-spawn":
    case "scope-overlap":
    case "not-recoverable":
    case "agents-live":
      return agentWords(refusal);
    case "recipient-ended":
      return {
        ...rejected("MAIL_ERROR"),
        message: `"${refusal.name}" ${refusal.state.startsWith("submitted") ? `is ${refusal.state}` : `has ended (${refusal.state})`}; the message was not sent`,
        hint: backToWork(refusal),
      };
    case "no-recipients":
      return {
        ...rejected("MAIL_ERROR"),
        message: `"${refusal.address}" reaches no agent: ${refusal.why}; the message was not sent`,
        hint: "see who can be reached: ov status",
      };
    case "hop-limit":
      return {
        ...rejected("MAIL_ERROR"),
        message: `thread ${refusal.thread} reached its limit of ${refusal.limit} hops between agents; the message was not sent`,
        hint: `start a new thread, or ask a person: ${ask}`,
      };
    case "rate-limited":
      return {
        code: "MAIL_ERROR",
        exit: exits.busy,
        retryable: true,
        message: `${refusal.sender} sent more than ${refusal.limit} messages per ${refusal.per}; the message was not sent`,
        hint: `try again in ${Math.max(1, Math.ceil(refusal.retryAfterMs / 1000))}s, and put what you have to say into one message`,
      };
    case "type-not-yours":
      return {
        ...denied,
        message: `a ${refusal.capability} may not send mail of type ${refusal.type}; the message was not sent`,
        hint: `allowed (--type): ${listed(refusal.allowed)}`,
      };
    case "delivery-state":
      return {
        ...rejected("MAIL_ERROR"),
        message: `message ${refusal.id} is ${refusal.state}; this can be done only while it is ${refusal.wanted}; ${unchanged}`,
        hint: "see your messages: ov mail list",
      };
    case "task-held":
      return {
        code: "TASK_ERROR",
        exit: exits.busy,
        retryable: true,
        message: `task ${refusal.task} is held by "${refusal.holder}"; ${unchanged}`,
        hint: `see what its holder does: ov status; if it has given up, end it, then sling again: ov stop ${refusal.holder}`,
      };
    case "task-status":
      return {
        ...rejected("TASK_ERROR"),
        message: `task ${refusal.task} is ${refusal.status}; this can be done only while it is ${listed(refusal.wanted)}; ${unchanged}`,
        hint: statusHint(refusal),
      };
    case "task-blocked":
      return {
        ...rejected("TASK_ERROR"),
        message: `task ${refusal.task} waits for ${listed(refusal.by, "and")}; ${unchanged}`,
        hint: "whoever leads it is told when it can be started; see what can be worked on now: ov task ready",
      };
    case "dependency-cycle":
      return {
        ...rejected("TASK_ERROR"),
        message: `the tasks would wait for each other: ${refusal.path.join(" -> ")}; ${unchanged}`,
        hint: "leave out one of these dependencies",
      };
    case "group-ambiguous":
      return {
        ...rejected("GROUP_ERROR"),
        message: `several groups are named "${refusal.name}"; ${unchanged}`,
        hint: `use an id: ${listed(refusal.ids)}`,
      };
    case "group-member":
      return {
        ...rejected("GROUP_ERROR"),
        ...(refusal.problem === "absent" ? { exit: exits.notFound } : {}),
        message: `task ${refusal.task} is ${refusal.problem === "already" ? "already" : "not"} in group ${refusal.group}; ${unchanged}`,
        hint: `see its tasks: ov group status ${refusal.group}`,
      };
    case "group-would-be-empty":
      return {
        ...rejected("GROUP_ERROR"),
        message: `group ${refusal.group} would be left without tasks; ${unchanged}`,
        hint: `add another task first: ov group add ${refusal.group} <task>`,
      };
    case "run-open":
      return {
        ...rejected("LIFECYCLE_ERROR"),
        message: `run ${refusal.run} has open ends; ${unchanged}:\n${refusal.open.map(({ what, fix }) => `- ${what}\n  ${fix}`).join("\n")}`,
        hint: refusal.mayForce
          ? `when nothing of this matters any more, end the run anyway: ov run complete${refusal.which} --force`
          : `settle each of them; what only a person can decide, ask: ${ask}`,
      };
    case "merge-status":
      return {
        ...rejected("MERGE_ERROR"),
        message: `merge ${refusal.entry} (${refusal.branch}) is ${refusal.status}; this can be done only while it is ${listed(refusal.wanted)}; ${unchanged}`,
        hint:
          refusal.status === "reverted"
            ? `it was taken out again; to land it again: ov merge --branch ${refusal.branch}`
            : `see what became of it: ov merge show ${refusal.entry}`,
      };
    case "uncommitted-rest": {
      const { agent, branch, files, hasCommits, problem, fix } = refusal;
      const why = problem === undefined ? "which would not land" : `which could not be committed: ${problem}`;
      return {
        ...rejected("MERGE_ERROR"),
        message: `${agent} has ${uncommitted(files)} in its worktree (${fewOf(files)}), ${why}; ${unchanged}`,
        hint: [
          fix === undefined
            ? `commit and land them: ov merge --branch ${branch} --commit-rest`
            : `${fix}, then ov merge --branch ${branch} --commit-rest`,
          // Without commits there are only uncommitted files, and nothing to land.
          ...(hasCommits
            ? [`land without them (a snapshot keeps them): ov merge --branch ${branch} --leave-rest`]
            : []),
        ].join("; or "),
      };
    }
    case "commits-off-branch": {
      const { agent, branch, commits, subjects, place, hasCommits, fix } = refusal;
      const [count, them] = commits === 1 ? ["1 commit", "it"] : [`${commits} commits`, "them"];
      const named = subjects === "" ? "" : ` (${subjects})`;
      return {
        ...rejected("MERGE_ERROR"),
        message: `${agent} has ${count} that ${branch} lacks${named}, ${place} in its worktree, which would not land; ${unchanged}`,
        hint: [
          `${fix}, then ov merge --branch ${branch}`,
          ...(hasCommits
            ? [`land without ${them} (a snapshot keeps ${them}): ov merge --branch ${branch} --leave-rest`]
            : []),
        ].join("; or "),
      };
    }
    case "work-in-snapshot": {
      const { agent, branch, snapshot, files, commits, subjects, hasCommits, fix } = refusal;
      const parts = [
        ...(commits === 0 ? [] : [`${commits === 1 ? "1 commit" : `${commits} commits`} (${subjects})`]),
        ...(files.length === 0 ? [] : [`${uncommitted(files)} (${fewOf(files)})`]),
      ];
      return {
        ...rejected("MERGE_ERROR"),
        message: `the snapshot ${snapshot} of ${agent} has ${parts.join(" and ")} that ${branch} lacks and that would not land; ${unchanged}`,
        hint: [
          fix,
          ...(hasCommits
            ? [`land without it (the snapshot stays): ov merge --branch ${branch} --leave-rest`]
            : [`have ${agent} go on: ov recover ${agent}`]),
        ].join("; or "),
      };
    }
    case "no-own-commits":
      return {
        ...rejected("MERGE_ERROR"),
        message: `${refusal.branch} has no commits of its own: ${refusal.agent} committed nothing, so there is nothing to land; ${unchanged}`,
        hint: `have it go on: ov recover ${refusal.agent}; or commit and land what it left uncommitted: ov merge --branch ${refusal.branch} --commit-rest`,
      };
    case "merge-moved":
      return {
        ...rejected("MERGE_ERROR"),
        message: `${refusal.branch} or what it lands on has moved since its conflicts were read; ${unchanged}`,
        hint: `read them again: ov merge show ${refusal.entry}`,
      };
    case "merge-queued":
      return {
        ...rejected("MERGE_ERROR"),
        message: `${refusal.branch} is in the queue again as merge ${refusal.instead}, so merge ${refusal.entry} stays as it is; ${unchanged}`,
        hint: `see the newer one: ov merge show ${refusal.instead}`,
      };
    case "nothing-to-undo":
      return {
        ...rejected("MERGE_ERROR"),
        exit: exits.notFound,
        message: `${refusal.what} cannot be undone: ${refusal.why}; ${unchanged}`,
        hint: refusal.next ?? "see what has landed: ov merge log",
      };
    case "no-current-run":
      return {
        code: "LIFECYCLE_ERROR",
        exit: exits.notFound,
        retryable: false,
        message: `no run is active; ${unchanged}`,
        hint: "start one: ov sling <task>, or see past ones: ov run list",
      };
  }
}

const uncommitted = (files: readonly string[]): string =>
  files.length === 1 ? "1 uncommitted file" : `${files.length} uncommitted files`;

const fewOf = (files: readonly string[]): string =>
  files.length > 5 ? `${files.slice(0, 5).join(", ")}, ...` : files.join(", ");

const elsewhere = {
  process: "it belongs to a turn that this process is no part of",
  connection: "over the engine's socket it counts only for a confined process of its turn",
} as const;

const denied = { code: "PERMISSION_ERROR", exit: exits.permission, retryable: false } as const;

function invalidInput(refusal: InvalidInput): Words {
  const base = { ...rejected("VALIDATION_ERROR"), message: `${sentence(refusal)}; ${unchanged}` };
  if (refusal.nearest !== undefined) return { ...base, hint: `did you mean "${refusal.nearest}"?` };
  if (refusal.allowed !== undefined && refusal.allowed.length > 0)
    return {
      ...base,
      hint: `use ${listed(refusal.field === "option" ? refusal.allowed.map(typed) : refusal.allowed)}`,
    };
  return base;
}

/** Options are an author's words, and are typed into a shell as one word each. */
const typed = (option: string): string => (visibleLine(option) === option ? shellWord(option) : visibleLine(option));

/** What the value names is the subject of the sentence: `agent "g2" has ended`. Any other value is shown at the end. */
function sentence({ field, problem, value }: InvalidInput): string {
  if (value === undefined) return `${field} ${problem}`;
  if (field === "id") return `"${value}" ${problem}`;
  return named.includes(field) ? `${field} "${value}" ${problem}` : `${field} ${problem} (got "${value}")`;
}

const named: readonly string[] = ["agent", "task", "run"];

const nounRows = {
  agent: { code: "AGENT_ERROR", advice: "see what there is: ov status" },
  task: { code: "TASK_ERROR", advice: "see what there is: ov task list" },
  message: { code: "MAIL_ERROR", advice: "see what there is: ov mail list" },
  group: { code: "GROUP_ERROR", advice: "see what there is: ov group list" },
  run: { code: "LIFECYCLE_ERROR", advice: "see what there is: ov run list" },
  spec: { code: "VALIDATION_ERROR", advice: "write it: ov spec write <task>" },
  branch: { code: "MERGE_ERROR", advice: "see what there is: git branch --list" },
  "merge entry": { code: "MERGE_ERROR", advice: "see what there is: ov merge list" },
  "merge operation": { code: "MERGE_ERROR", advice: "see what there is: ov merge log" },
  "gate result": { code: "MERGE_ERROR", advice: "see what there is: ov gate list" },
  receipt: {
    code: "MERGE_ERROR",
    advice:
      "the receipt of an agent: ov gate show <agent>; of a merge: ov gate show <number>; the numbers: ov merge list --all",
  },
  snapshot: { code: "WORKTREE_ERROR", advice: "see what there is: ov snapshots list" },
  check: { code: "MERGE_ERROR", advice: "ask for it again: ov gate run" },
  event: { code: "VALIDATION_ERROR", advice: "see what there is: ov logs <agent> --json" },
  criterion: { code: "LIFECYCLE_ERROR", advice: "see what there is: ov run criteria" },
  finding: { code: "VALIDATION_ERROR", advice: "see what there is: ov doctor" },
  "attention item": { code: "VALIDATION_ERROR", advice: "see what waits: ov inbox" },
  key: { code: "VALIDATION_ERROR", advice: "see what there is: ov serve keys" },
} as const satisfies Record<Noun, { readonly code: Code; readonly advice: string }>;

/** Longer than any name that a person types on purpose. */
const longestId = 200;

function missing({ noun, id, nearest, advice: own }: NotFound): Words {
  const { code, advice } = nounRows[noun];
  const near = nearest === undefined ? [] : [`did you mean "${nearest}"?`];
  return {
    code,
    exit: exits.notFound,
    retryable: false,
    message: `no ${noun} "${id.length > longestId ? `${id.slice(0, longestId)}...` : id}"; ${unchanged}`,
    hint: [...near, ...(own === undefined ? [] : [own])].join(" ") || advice,
  };
}

function statusHint({ task, status, wanted }: Extract<Refusal, { kind: "task-status" }>): string {
  if (wanted.includes("open")) {
    if (status === "closed") return `if there is more to do, make it open again: ov task reopen ${task}`;
    if (status === "in_review") {
      return `if nothing of it is to land any more, make it open again: ov task reopen ${task}`;
    }
  }
  return `see the task: ov task show ${task}`;
}

/** What the sender of a message can do when its recipient has ended. */
function backToWork({ name, state, reopening, next }: Extract<Refusal, { kind: "recipient-ended" }>): string {
  if (next !== undefined) return next;
  if (reopening.length === 0) return `to let it go on: ov recover ${name}`;
  if (state.startsWith("submitted")) return `only these bring a submitted agent back to work: ${listed(reopening)}`;
  return `to let it go on: ov recover ${name}; or send it with one of these: ${listed(reopening)}`;
}
