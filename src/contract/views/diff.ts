import type { AgentWork } from "../../usecases/diffs/agent-diff.ts";
import type { Comparison } from "../../usecases/diffs/compare-commits.ts";
import type { MergeDiff } from "../../usecases/diffs/merge-diff.ts";
import type { Diff, DiffFile } from "../../usecases/diffs/read-diff.ts";

/** Changed files with their hunks, as a page draws them. */
export const diffView = ({ files, added, removed }: Diff) => ({ added, removed, files: files.map(diffFileView) });

/** A changed file. A closed one has no hunks; asked for by its name it has. */
export const diffFileView = (file: DiffFile) => ({
  path: file.path,
  oldPath: file.oldPath,
  status: file.status,
  added: file.added,
  removed: file.removed,
  oldBlob: file.oldBlob,
  newBlob: file.newBlob,
  risks: file.risks,
  closed: file.closed,
  hunks: file.hunks.map(({ oldStart, newStart, heading, lines, words }) => ({
    oldStart,
    newStart,
    heading,
    lines,
    words,
  })),
});

/** The work of an agent since where it started. */
export const agentDiffView = ({ files, added, removed, ...work }: AgentWork & Diff) => ({
  ...agentWorkOf(work),
  skipped: work.skipped,
  ...diffView({ files, added, removed }),
});

/** The branch and commits of an agent's work, as each view of it begins. */
export const agentWorkOf = ({ agentName, branch, base, head, uncommitted, worktreeGone }: AgentWork) => ({
  agentName,
  branch,
  base,
  head,
  uncommitted,
  worktreeGone,
});

/** What an entry of the merge queue brings. */
export const mergeDiffView = ({ id, branch, base, head, ...diff }: MergeDiff) => ({
  id,
  branch,
  base,
  head,
  ...diffView(diff),
});

/** What changed between two commits. */
export const comparisonView = ({ base, head, ...diff }: Comparison) => ({ base, head, ...diffView(diff) });
