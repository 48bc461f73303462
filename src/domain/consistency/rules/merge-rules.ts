import { hasEnded, newestPerName } from "../../agent/agent.ts";
import { integrationPrefix } from "../../merge/landing-branch.ts";
import type { ProjectFacts, StoredRows } from "../facts.ts";
import { breach, type FixStep, failing, type Inconsistency, mendedByEngine, row, warning } from "../finding.ts";

const heads = "refs/heads/";
const ours = "refs/overstory/";

/** The merge queue, refs and branches. */
export function mergeRules(facts: ProjectFacts): readonly Inconsistency[] {
  const { rows } = facts;
  if (rows === null) return [];
  return [...queue(rows, facts), ...branches(rows, facts), ...refs(rows, facts), ...snapshots(rows, facts)];
}

function queue(rows: StoredRows, { engine, git }: ProjectFacts): readonly Inconsistency[] {
  const unpinned = rows.merges.filter(({ headCommit }) => headCommit !== "" && git.missing.has(headCommit));
  const lost = unpinned.map(({ id, branch, headCommit }) =>
    breach(
      commitGone,
      String(id),
      `merge ${id} (${branch}) is of ${headCommit.slice(0, 10)}, and git does not have that commit`,
      row("fail-merge", String(id)),
    ),
  );
  const unnamed = rows.merges.filter(
    ({ branch, headCommit }) => headCommit !== "" && !git.missing.has(headCommit) && isGone(branch, git),
  );
  const deleted = unnamed.map(({ id, branch, headCommit }) =>
    breach(branchGone, String(id), `merge ${id} is of ${branch}, and there is no such branch`, {
      on: "restore",
      ref: heads + branch,
      commit: headCommit,
    }),
  );
  if (engine.isAlive) return [...lost, ...deleted];
  return [
    ...lost,
    ...deleted,
    ...rows.merges
      .filter(({ status }) => status === "merging" || status === "gating")
      .map(({ id, branch, status }) =>
        breach(
          leftMerge,
          String(id),
          `merge ${id} (${branch}) is ${status}, and no engine works on it`,
          row("requeue-merge", String(id)),
        ),
      ),
    ...rows.attempts.map(({ id }) =>
      breach(leftAttempt, id, `the attempt ${id} is open, and no engine works on it`, row("close-attempt", id)),
    ),
    ...rows.checks
      .filter(({ status }) => status === "running")
      .map(({ id, refName }) =>
        breach(
          leftCheck,
          id,
          `the check of ${refName} counts as running, and no engine works on it`,
          row("requeue-check", id),
        ),
      ),
  ];
}

const isGone = (branch: string, { refs: all }: ProjectFacts["git"]): boolean =>
  branch.startsWith("overstory/") && !all.has(heads + branch);

const commitGone = failing("merge-of-missing-commit", {
  affects: "the entry can never land",
  does: "ends the entry as failed, and tells its agent and its parent",
  isOfEngine: true,
});
const branchGone = failing("merge-without-branch", {
  affects: "the agent of the branch cannot mend what a merge sends back",
  does: "makes the branch again at the commit that was announced",
  isOfEngine: true,
});
const leftMerge = failing("merge-without-engine", {
  affects: "the branch does not land",
  does: "puts the entry back into the queue",
  ...mendedByEngine,
});
const leftAttempt = warning("attempt-without-engine", {
  affects: "the history of merges shows an attempt without an end",
  does: "records that the attempt was lost",
  ...mendedByEngine,
});
const leftCheck = failing("check-without-engine", {
  affects: "the caller waits for an answer",
  does: "puts the check back into the queue",
  ...mendedByEngine,
});

function branches(rows: StoredRows, { git }: ProjectFacts): readonly Inconsistency[] {
  const names = new Set(rows.agents.map(({ name }) => name));
  const known = new Set(rows.agents.map(({ branch }) => branch));
  const runs = new Set(rows.runs.map(({ landingBranch }) => landingBranch));
  const strays = [...git.refs].flatMap(([ref, commit]) => {
    if (!ref.startsWith(`${heads}overstory/`)) return [];
    const branch = ref.slice(heads.length);
    if (branch.startsWith(integrationPrefix)) {
      const isKnown = runs.has(branch) || rows.runs.some(({ id }) => branch === integrationPrefix + id);
      return isKnown
        ? []
        : [breach(strayBranch, branch, `${branch} belongs to no run`, { on: "retire", ref, commit } as const)];
    }
    if (known.has(branch) || names.has(branch.split("/")[1] ?? "")) return [];
    return [breach(strayBranch, branch, `${branch} belongs to no agent`, { on: "retire", ref, commit } as const)];
  });
  const missing = newestPerName(rows.agents).flatMap((agent) => {
    const { name, branch, worktreeKind, worktreePath, releasedAt, headCommit, baseCommit } = agent;
    if (branch === null || worktreeKind !== "linked" || worktreePath === null || releasedAt !== null) return [];
    const commit = [headCommit, baseCommit].find((one) => one !== null && !git.missing.has(one));
    if (!isGone(branch, git) || commit == null) return [];
    const terms = hasEnded(agent) ? branchMissing : { ...branchMissing, healedByEngine: true as const };
    return [
      breach(terms, name, `the branch ${branch} of ${name} is gone`, { on: "restore", ref: heads + branch, commit }),
    ];
  });
  const landing = rows.runs.flatMap(({ id, status, landingBranch }) => {
    if (status !== "active" || landingBranch === null || !isGone(landingBranch, git)) return [];
    const pin = git.refs.get(`${ours}landing/${landingBranch.slice(integrationPrefix.length)}`);
    if (pin === undefined) return [];
    return [
      breach(landingMissing, id, `the landing branch ${landingBranch} of run ${id} is gone`, {
        on: "restore",
        ref: heads + landingBranch,
        commit: pin,
      }),
    ];
  });
  return [...strays, ...missing, ...landing];
}

const strayBranch = warning("branch-without-agent", {
  affects: "names of agents that would have this branch are refused",
  does: "keeps its commits under refs/overstory/rescue/, unless another branch holds them, and deletes the branch",
});
const branchMissing = failing("agent-without-branch", {
  affects: "the commits of the agent can be deleted by git",
  does: "makes the branch again at the last commit that the agent was seen at",
  isOfEngine: true,
});
const landingMissing = failing("run-without-landing-branch", {
  affects: "nothing of the run lands",
  does: "makes the branch again where the last landing left it",
  isOfEngine: true,
});

function refs(rows: StoredRows, { git }: ProjectFacts): readonly Inconsistency[] {
  const broken = [...git.brokenRefs].map(([ref, commit]) =>
    breach(brokenRef, ref, `${ref} names ${commit.slice(0, 10)}, and git does not have that object`, {
      on: "drop-ref",
      ref,
      commit,
    }),
  );
  const of = [...git.refs].flatMap(([ref, commit]) => {
    if (!ref.startsWith(ours) || git.brokenRefs.has(ref)) return [];
    const owner = ownerless(ref, rows);
    return owner === undefined
      ? []
      : [breach(strayRef, ref, `${ref} is of ${owner}`, { on: "retire", ref, commit } as const)];
  });
  return [...broken, ...of];
}

/** Which owner of this ref is missing, in words. Snapshots and rescues are looked at with their records. */
function ownerless(ref: string, rows: StoredRows): string | undefined {
  const [sort = "", ...rest] = ref.slice(ours.length).split("/");
  const name = rest.join("/");
  switch (sort) {
    case "snap":
    case "rescue":
    case "sub":
      return undefined;
    case "queue":
      return rows.mergeIds.includes(Number(name)) ? undefined : "a merge that does not exist";
    case "backup":
      return rows.operationIds.includes(name) ? undefined : "an operation that does not exist";
    case "landing":
      return rows.runs.some((run) => run.landingBranch === integrationPrefix + name || run.id === name)
        ? undefined
        : "a run that does not exist";
    case "pin":
      return rows.agents.some((agent) => agent.name === rest[0]) ? undefined : "an agent that does not exist";
    default:
      return "nothing that this version knows";
  }
}

const strayRef = warning("ref-of-nothing", {
  affects: "git keeps the commits of it for ever",
  does: "keeps its commits under refs/overstory/rescue/, unless a branch holds them, and deletes the ref",
});
const brokenRef = failing("ref-without-object", {
  affects: "git commands that read all refs fail, such as fetch and gc",
  does: "deletes the ref; its name and number are kept in the trash, should the object come back",
});

function snapshots(rows: StoredRows, { git }: ProjectFacts): readonly Inconsistency[] {
  const recorded = new Set(rows.snapshots.map(({ ref }) => ref));
  const lost = rows.snapshots.flatMap(({ ref, commitId, agentName }) => {
    const there = git.refs.get(ref);
    if (there === commitId || git.brokenRefs.has(ref)) return [];
    if (there !== undefined) {
      const says = `${ref} is at ${there.slice(0, 10)}, and the snapshot of ${agentName} is ${commitId.slice(0, 10)}`;
      return [breach(movedSnapshot, ref, says, ...backTo(ref, { there, commitId, isLost: git.missing.has(commitId) }))];
    }
    return git.missing.has(commitId)
      ? [
          breach(
            emptySnapshot,
            ref,
            `a snapshot of ${agentName} is on record, and neither its ref nor its commit is there`,
            row("forget-snapshot", ref),
          ),
        ]
      : [breach(lostSnapshot, ref, `the ref ${ref} is gone`, { on: "restore", ref, commit: commitId })];
  });
  const unknown = [...git.refs].flatMap(([ref, commit]) => {
    if (!isSnapshot.test(ref) || recorded.has(ref) || git.brokenRefs.has(ref)) return [];
    const record = recordOf(ref, commit);
    return [breach(unknownSnapshot, ref, `${ref} keeps work of ${record.repair.detail}, and is not on record`, record)];
  });
  return [...lost, ...unknown];
}

const isSnapshot = /^refs\/overstory\/(?:snap\/([^/]+)\/(\d+)\/\d+|rescue\/(?!queue-)(.+))$/;

/** The ref says of which agent and incarnation the snapshot is. */
function recordOf(ref: string, commit: string): FixStep & { on: "row" } {
  const own = isSnapshot.exec(ref);
  const agentName = own?.[1] ?? (own?.[3] ?? "").replace(/-\d+(-\d+)?$/, "");
  return row("record-snapshot", ref, { of: commit, detail: agentName, number: Number(own?.[2] ?? 0) });
}

interface MovedSnapshot {
  readonly there: string;
  readonly commitId: string;
  /** Git does not have the commit of the record. */
  readonly isLost: boolean;
}

const backTo = (ref: string, { there, commitId, isLost }: MovedSnapshot): readonly FixStep[] =>
  isLost
    ? [row("forget-snapshot", ref), recordOf(ref, there)]
    : [
        { on: "retire", ref, commit: there },
        { on: "restore", ref, commit: commitId },
      ];

const movedSnapshot = failing("snapshot-at-other-commit", {
  affects: "git deletes the kept work with its next cleaning, and `ov recover` brings something else back",
  does: "keeps the other commit under refs/overstory/rescue/, unless a branch holds it, and sets the ref to the commit of the record; where git has lost that commit, the record gets the other one",
});

const lostSnapshot = failing("snapshot-without-ref", {
  affects: "git deletes the kept work with its next cleaning",
  does: "makes the ref again",
});
const emptySnapshot = warning("snapshot-of-nothing", {
  affects: "the work that it kept is gone; `ov recover` looks for it in vain",
  does: "takes the record away",
});
const unknownSnapshot = warning("snapshot-not-on-record", {
  affects: "the kept work never expires, and `ov recover` does not look for it",
  does: "puts it on record",
});
