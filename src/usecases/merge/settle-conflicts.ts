import type { MergeEntry, MergeStatus } from "../../domain/merge/entry.ts";
import type { Conflict } from "../../domain/merge/ladder.ts";
import { joinCommand, settledSubject } from "../../domain/merge/words.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, list, oneOf, text } from "../../domain/schema/schema.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { ResolvedFile, SettlingGit } from "../../ports/merge-git.ts";
import { hasConflictMarkers } from "../../structured-merge/index.ts";
import { heads } from "../branches/branches.ts";
import type { Effect } from "../operation.ts";
import { landingTip } from "./look-ahead.ts";
import { wrongStatus } from "./merge-records.ts";
import { isSettledOn, movedSince } from "./queue/decide-by-git.ts";
import { canBeTaken } from "./show-conflicts.ts";

/** How a person settled one file: by a side of it as a whole, or by its text. */
interface SettledByHand {
  readonly path: string;
  readonly take?: "target" | "branch" | undefined;
  readonly content?: string | undefined;
}

export interface SettleRequest {
  readonly of: string;
  /** The two commits whose sides the person saw. */
  readonly onto: string;
  readonly head: string;
  /** One for each file that no rule settles. */
  readonly files: readonly SettledByHand[];
}

export interface SettleReply {
  /** The place of the result in the queue. */
  readonly entry: MergeEntry;
  readonly commit: string;
}

/**
 * A person's word on the conflicts of an entry. It becomes a merge commit on top of the branch, which takes the place of
 * the entry in the queue: it passes the gates as any other commit does, and no checkout is touched. The branch follows
 * where it is checked out nowhere. An agent that has it checked out is told which commit to take in.
 */
export const settleConflicts: Effect<SettleRequest, SettleReply> = {
  kind: "effect",
  request: fields({
    of: text,
    onto: text,
    head: text,
    files: list(fields<SettledByHand>({ path: text }, { take: oneOf(["target", "branch"]), content: text })),
  }),
  operatorOnly: true,
  action: ({ of }) => `settle the conflicts of merge ${of}`,
  place: "engine",
  run: async (world, { of, onto, head, files }) => {
    const found = await world.call("merge.readEntry", { of });
    if (!found.ok) return found;
    const { entry, meantFor } = found.value;
    const refused = wrongStatus(entry, settleable) ?? ofTarget(entry, meantFor);
    if (refused !== undefined) return no(refused);
    const plan = await world.call("merge.planByHand", { of });
    if (!plan.ok) return plan;
    const landings = await world.call("merge.landings", { target: entry.targetBranch });
    if (!landings.ok) return landings;
    const git = await world.settlingGit();
    const { branch, targetBranch, runId } = entry;
    const tip = await git.commitOf(heads + branch);
    const seen = {
      onto: await landingTip(git, { target: targetBranch, runId, landings: landings.value.branches }),
      head: entry.headCommit === "" ? tip : await git.commitOf(entry.headCommit),
    };
    if (seen.onto !== onto || seen.head !== head) return no({ kind: "merge-moved", entry: entry.id, branch });
    // Neither are newer commits left behind without a word, nor does a commit land that the branch has dropped.
    if (tip !== undefined && tip !== head && !(await isSettledOn(git, tip, head))) return no(movedSince(entry));
    const tree = await treeByHand(git, { onto, head }, files);
    if (!tree.ok) return tree;
    const message = `${settledSubject(branch, targetBranch)}\n`;
    const commit = await git.commit({ tree: tree.value, parents: [head, onto], message });
    const added = await world.call("merge.add", {
      branch,
      headCommit: commit,
      targetBranch,
      priority: entry.priority,
      dependsOn: entry.dependsOn.map(String),
      filesModified: entry.filesModified,
      ...(entry.taskId === null ? {} : { taskId: entry.taskId }),
      approve: true,
      insteadOf: entry.id,
    });
    if (!added.ok) return added;
    const { worktree, busyAgent } = plan.value;
    const isFree = worktree === null && tip === head && (await git.checkoutsOf(branch)).length === 0;
    // A branch that moves at this moment keeps its own tip: the queue has the commit.
    if (isFree) await git.updateRefs([{ ref: heads + branch, from: head, to: commit }], "overstory: settled by hand");
    if (busyAgent !== null) {
      const told = await world.call("mail.send", letterTo(busyAgent, { branch, targetBranch, commit, isFree }));
      // It may have ended meanwhile, and then needs no word.
      if (!told.ok && told.refusal.kind !== "recipient-ended") return told;
    }
    return ok({ entry: added.value.entry, commit });
  },
};

/** What is being merged or has landed is not settled any more. */
const settleable: readonly MergeStatus[] = ["pending", "blocked", "conflict", "failed", "cancelled"];

/**
 * A target takes in what has landed by a promotion, or by its user. A result on top of it would move it past the gates, or
 * count as a commit that it lost.
 */
function ofTarget({ branch, targetBranch }: MergeEntry, meantFor: string | null): Refusal | undefined {
  if (branch !== meantFor) return undefined;
  const join = `git switch ${shellWord(branch)} && ${joinCommand(targetBranch)}`;
  return invalid("merge", `brings commits that ${branch} has of its own; join them there yourself: ${join}`);
}

const letterTo = (
  to: string,
  { branch, targetBranch, commit, isFree }: { branch: string; targetBranch: string; commit: string; isFree: boolean },
) => ({
  to,
  type: "status" as const,
  subject: `conflicts of ${branch} settled by hand`,
  body: [
    `The operator settled the conflicts of ${branch} with ${targetBranch}: the result is ${commit} and is in the merge queue.`,
    "Do not settle them again.",
    ...(isFree ? [] : [`Before you commit more to the branch, take the result in: git merge ${commit}`]),
  ].join("\n"),
});

/** The tree of the merge: rules where they are sure, the person's word everywhere else. */
async function treeByHand(
  git: SettlingGit,
  { onto, head }: Pick<SettleRequest, "onto" | "head">,
  files: SettleRequest["files"],
): Promise<Result<string, Refusal>> {
  const merged = await git.merge(onto, head);
  if (merged.kind === "failed") return no(invalid("merge", `cannot be read by git: ${merged.problem}`));
  if (merged.kind !== "conflicts") return no(invalid("merge", "has no conflicts to settle"));
  const byHand = new Map(files.map((file) => [file.path, file]));
  const settled: ResolvedFile[] = [];
  for (const conflict of merged.conflicts) {
    const answer = await git.resolve({ conflict, ours: onto, theirs: head });
    const own = byHand.get(conflict.path);
    byHand.delete(conflict.path);
    if (own === undefined && answer.kind !== "resolved") {
      return no(invalid("files", "has no word on a file with conflicts", { value: conflict.path }));
    }
    const file =
      own === undefined ? ok(answer.kind === "resolved" ? answer.file : undefined) : await fileOf(git, conflict, own);
    if (!file.ok) return file;
    if (file.value !== undefined) settled.push(file.value);
  }
  const [unknown] = byHand.keys();
  if (unknown !== undefined) return no(invalid("files", "names a file without conflicts", { value: unknown }));
  return ok(await git.withFiles(merged.tree, settled));
}

async function fileOf(
  git: SettlingGit,
  conflict: Conflict,
  { take, content }: SettledByHand,
): Promise<Result<ResolvedFile, Refusal>> {
  const { path, ours, theirs } = conflict;
  if ((take === undefined) === (content === undefined))
    return no(invalid("files", "must have either a side or a text", { value: path }));
  if (!canBeTaken(conflict))
    return no(
      invalid("files", `has a conflict of the kind ${conflict.kind}, which is settled on the branch`, { value: path }),
    );
  if (content === undefined) {
    const side = take === "target" ? ours : theirs;
    if (side === null) return ok({ path, mode: "100644", content: null });
    return ok({ path, mode: side.mode, content: await git.readBlob(side.oid) });
  }
  if (hasConflictMarkers(content)) return no(invalid("files", "still has conflict markers", { value: path }));
  const mode = ours?.mode ?? theirs?.mode ?? "100644";
  if (!mode.startsWith("100")) return no(invalid("files", "is no file with a text", { value: path }));
  return ok({ path, mode, content: new TextEncoder().encode(content) });
}
