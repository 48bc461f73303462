import type { Agent } from "../agent/agent.ts";
import { canonical, isIn } from "../agent/capability.ts";
import { changeable, isScopeExplained, outsideScope } from "../agent/scope.ts";
import type { Task } from "../task/task.ts";
import { namedIn } from "../text/long-list.ts";
import { type HalfWay, waysOut } from "../worktree/change.ts";
import type { Missing } from "./check.ts";
import { type ChildFacts, nothingDone, openChildren } from "./children.ts";
import { type DoneRequest, type Finding, sendsBack } from "./request.ts";

/** What the agent's worktree holds. */
export interface WorkSeen {
  readonly exists: boolean;
  readonly head: string | null;
  /** Commits since the base, and their messages. */
  readonly ahead: number;
  readonly messages: readonly string[];
  /** Tracked changes, or untracked files that are not ignored. */
  readonly dirty: boolean;
  /** The tip of its branch is the commit it is at. Not so on a detached HEAD, or in a rebase left half-way. */
  readonly onBranch: boolean;
  /** The operation of git that it is in the middle of. */
  readonly halfWay: HalfWay | null;
  /** Files that differ from the base, committed or not. */
  readonly files: readonly string[];
}

/** Everything that decides whether an agent may say that it is done, except its gates. */
export interface CompletionFacts {
  readonly agent: Pick<Agent, "capability" | "scope" | "shares" | "branch">;
  readonly request: DoneRequest;
  /** Null for an agent without a worktree of its own. */
  readonly work: WorkSeen | null;
  /** Subjects of the mail it ever sent. */
  readonly mailSubjects: readonly string[];
  /** The files of the report in which it last said why it went beyond its scope; null where it never did. */
  readonly explained: { readonly reason: string; readonly files: readonly string[] } | null;
  /** This incarnation has already given a verdict by mail. */
  readonly reviewed: boolean;
  /** The branch under review, as far as it can be told. */
  readonly reviewedBranch: string | null;
  /** It gives the last review of its run. */
  readonly readsWholeRun: boolean;
  /** Branches it was asked to judge; empty where it named none itself. */
  readonly mayReview: readonly string[];
  readonly children: readonly ChildFacts[];
  /** Parts of the lead's own task that no agent has started and that were not dropped. */
  readonly openParts: readonly OpenPart[];
  /** Branches it was to join that its own does not contain. */
  readonly unmerged: readonly string[];
}

/** The points that are missing before the work is complete; empty when only the gates are left to ask. */
export function missingFrom(facts: CompletionFacts): readonly Missing[] {
  return [...missingWork(facts), ...missingForRole(facts)];
}

/** There are commits that could land. */
export const hasCode = (work: Pick<WorkSeen, "ahead"> | null): boolean => work !== null && work.ahead > 0;

function missingWork(facts: CompletionFacts): readonly Missing[] {
  const { agent, request, work } = facts;
  if (work === null) return [];
  if (!work.exists || work.head === null) {
    const message = "its worktree is not there or cannot be read";
    return [{ kind: "worktree", message, fix: "tell your parent: ov mail send --type error" }];
  }
  const writes = isIn("implementation", agent.capability);
  // Changes that no commit holds, and a HEAD beside the branch, belong to it.
  const open = writes || hasCode(work) ? work.halfWay : null;
  return [
    ...(open === null ? [] : [leftHalfWay(open)]),
    ...(open !== null || work.onBranch || !(writes || hasCode(work)) ? [] : [offBranch(agent.branch)]),
    ...(open === null && writes && work.dirty ? [uncommitted] : []),
    ...(writes && !hasCode(work) && !request.noCode ? [noCommits(work)] : []),
    ...(request.noCode && hasCode(work) ? [codeAfterAll(work)] : []),
    ...(writes ? scopeProblem(facts, work) : []),
  ];
}

function leftHalfWay(open: HalfWay): Missing {
  const [on = "", off] = waysOut(open, "git");
  const next = `settle what git status names and git add it, then go on: GIT_EDITOR=true ${on}; or give it up: ${off}`;
  return { kind: "half-way", message: `a ${open} was left half-way`, fix: off === undefined ? `end it: ${on}` : next };
}

const offBranch = (branch: string | null): Missing => ({
  kind: "off-branch",
  message: `the worktree is not at the tip of its branch ${branch ?? ""}`.trimEnd(),
  fix:
    branch === null
      ? "check your branch out"
      : `go back to it: git checkout ${branch}; if you committed elsewhere, bring that along: git merge <commit>`,
});

const uncommitted: Missing = {
  kind: "uncommitted",
  message: "there are changes that no commit holds",
  fix: "see them with git status, then commit each of them or take it back: git show HEAD:<file> > <file>, or rm <file> if it is new",
};

const noCommits = ({ dirty }: WorkSeen): Missing => ({
  kind: "no-commits",
  message: "there is no commit on the branch",
  fix: dirty
    ? "commit your changes"
    : `do the task and commit it, or, if it needs no change: ov done --no-code --reason "<why>" --summary "<what you found>"`,
});

const codeAfterAll = ({ ahead }: WorkSeen): Missing => ({
  kind: "code",
  message: `--no-code was given, but there ${ahead === 1 ? "is 1 commit" : `are ${ahead} commits`} on the branch`,
  fix: "leave --no-code out",
});

/**
 * Why files outside of the scope were changed: as this request says, or an earlier report that had all of them. An agent
 * that a merge or a review called back does not explain the same files again.
 */
export function reasonBeyondScope({ agent, request, explained, work }: CompletionFacts): string | null {
  if (request.expansionReason !== null || explained === null || work === null) return request.expansionReason;
  const names = outsideScope(work.files, changeable(agent));
  return names.length > 0 && names.every((name) => explained.files.includes(name)) ? explained.reason : null;
}

function scopeProblem(facts: CompletionFacts, work: WorkSeen): readonly Missing[] {
  const { agent, mailSubjects, explained } = facts;
  const outside = outsideScope(work.files, changeable(agent));
  const names = outside.filter((name) => explained?.files.includes(name) !== true);
  if (names.length === 0 || reasonBeyondScope(facts) !== null) return [];
  if (isScopeExplained({ commitBodies: work.messages, mailSubjects })) return [];
  return [
    {
      kind: "scope",
      message: `files outside its scope were changed${names.length < outside.length ? ", other than the files explained before" : ""}: ${namedIn(names)}`,
      fix: 'take each of them back (git show <base>:<file> > <file>, or git rm <file> if it is new; what landed while you worked as it is on the landing branch) and commit, or say why: ov done --expansion-reason "<why>"',
      names,
    },
  ];
}

function missingForRole(facts: CompletionFacts): readonly Missing[] {
  switch (canonical(facts.agent.capability)) {
    case "reviewer":
      return missingVerdict(facts);
    case "lead":
      return missingFromLead(facts);
    case "merger":
      return facts.unmerged.map(notMerged);
    default:
      return [];
  }
}

/** Children that are still open say more than that nothing was delivered yet. */
function missingFromLead({ children, openParts, request }: CompletionFacts): readonly Missing[] {
  const open = [...openChildren(children), ...openParts.map(notStarted)];
  return open.length > 0 ? open : nothingDone(children, request.noCode ? (request.noCodeReason ?? null) : null);
}

/** A part of a lead's task that no agent has taken, with the open tasks that it waits for. */
interface OpenPart extends Pick<Task, "id" | "title"> {
  readonly waitsFor: readonly string[];
}

function notStarted({ id, title, waitsFor }: OpenPart): Missing {
  const drop = `give it up: ov task drop ${id} --reason "<why>"`;
  const isWaiting = waitsFor.length > 0;
  return {
    kind: "open-part",
    message: isWaiting
      ? `task ${id}, a part of yours, waits for ${waitsFor.join(", ")}: ${title}`
      : `task ${id}, a part of yours, is open, and no agent works on it: ${title}`,
    fix: isWaiting
      ? `end your turn: you are told when it can be started; or ${drop}`
      : `have it done: ov sling ${id}, or ${drop}`,
    names: [id],
  };
}

function missingVerdict(facts: CompletionFacts): readonly Missing[] {
  const { request, reviewed, reviewedBranch } = facts;
  const { verdict, findings } = request;
  if (verdict === null) {
    if (reviewed) return [];
    const fix = "give one: ov done --verdict pass|fail|needs_changes --findings <what you found>";
    return [{ kind: "verdict", message: "a reviewer ends with a verdict", fix }];
  }
  const vague = sendsBack(verdict) && findings.length === 0;
  return [
    ...(reviewedBranch === null ? [unknownBranch] : strangeBranch(facts, reviewedBranch)),
    ...(vague ? [{ ...unfounded, message: `the verdict ${verdict} has no findings` }] : []),
    ...(verdict === "pass" ? contradicted(facts) : []),
  ];
}

/**
 * Findings that no pass goes along with: something critical, and in a last review an error or a criterion that is not met.
 * No other agent reads the whole after a last review, so an error that passes stays in the run.
 */
function contradicted({ request: { findings }, readsWholeRun }: CompletionFacts): readonly Missing[] {
  const unmet = readsWholeRun ? [...new Set(findings.flatMap(({ criterion }) => criterion ?? []))] : [];
  const said = [
    ...(unmet.length === 0 ? [] : [`a finding says that criterion ${unmet.join(", ")} is not met`]),
    ...counted(findings, "critical", "critical"),
    ...(readsWholeRun
      ? counted(
          findings.filter(({ criterion }) => criterion === undefined),
          "error",
          "of the severity error",
        )
      : []),
  ];
  if (said.length === 0) return [];
  const aboutCriterion = unmet.length === 0 ? "" : "; if every criterion is met, say in the summary what meets it";
  const otherwise = readsWholeRun
    ? `if it may stay as it is, leave the finding out or begin it with "warning:" (a finding without a severity is an error)${aboutCriterion}`
    : "if it can land as it is, leave the finding out, or give it as a warning";
  const fix = `if it is so: ov done --verdict fail|needs_changes; ${otherwise}`;
  return [{ kind: "findings", message: `the verdict is pass, but ${said.join(", and ")}`, fix }];
}

function counted(findings: readonly Finding[], severity: string, words: string): readonly string[] {
  const count = findings.filter((finding) => finding.severity === severity).length;
  if (count === 0) return [];
  return [`${count === 1 ? "1 finding is" : `${count} findings are`} ${words}`];
}

const unknownBranch: Missing = {
  kind: "branch",
  message: "the assignment does not say which branch was reviewed",
  fix: "name it: ov done --branch <branch>",
};

/**
 * A verdict reopens a builder or lets its branch pass, so a reviewer gives it only on work that was handed over to it.
 */
function strangeBranch({ request, mayReview }: CompletionFacts, branch: string): readonly Missing[] {
  if (request.branch === null || mayReview.includes(branch)) return [];
  const message = `${branch} is no branch that this reviewer was asked to judge`;
  const names = mayReview.length === 0 ? "ask your parent which one is meant" : `name one of: ${mayReview.join(", ")}`;
  return [{ kind: "branch", message, fix: names, names: mayReview }];
}

const unfounded = {
  kind: "findings",
  fix: 'say what must change: ov done --findings "<file>:<line>: <severity>: <what happens>", and below each finding "expected: <what would be right>"',
} as const;

const notMerged = (branch: string): Missing => ({
  kind: "not-merged",
  message: `${branch} is not contained in the branch`,
  fix: `merge it, or report why it cannot be: ov mail send --type merge_failed`,
  names: [branch],
});
