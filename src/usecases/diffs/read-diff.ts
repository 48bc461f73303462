import { changeable, outsideScope } from "../../domain/agent/scope.ts";
import { type Hunk, hunksIn } from "../../domain/diff/hunks.ts";
import { patchedFiles } from "../../domain/diff/patched-files.ts";
import { type ClosedReason, closedFiles, type FileChange, mostLines, risksOf } from "../../domain/diff/shown-files.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { flag, text, whole } from "../../domain/schema/schema.ts";
import type { LookingGit } from "../../ports/merge-git.ts";
import type { Settings } from "../../ports/settings.ts";
import { commandFor } from "../merge/generated-files.ts";

/** How a diff is asked for. */
export interface DiffForm {
  /** Only this file. It is shown open, unless it is no text or too long. */
  readonly file?: string | undefined;
  /** How many unchanged lines stand around each change. */
  readonly context?: number | undefined;
  readonly ignoreSpace?: boolean | undefined;
}

export const diffFields = { file: text, context: whole, ignoreSpace: flag } as const;

/** A changed file with its hunks. */
export interface DiffFile extends FileChange {
  readonly risks: readonly string[];
  /** Why it has no hunks here; null where it has them. */
  readonly closed: ClosedReason | null;
  readonly hunks: readonly Hunk[];
}

/** Files as they were and as they are, for reading in a page. */
export interface Diff {
  readonly files: readonly DiffFile[];
  readonly added: number;
  readonly removed: number;
}

interface DiffTerms {
  readonly from: string;
  readonly to: string;
  readonly form: DiffForm;
  readonly settings: Pick<Settings, "merge">;
  /** The files that the agent may change; null where no agent is bound. */
  readonly area: { readonly scope: readonly string[]; readonly shares: readonly string[] } | null;
}

/** More unchanged lines than any file that is shown has. */
const mostContext = 100_000;

/** The difference between two commits, in the size that a page can show. Long and generated files are listed and closed. */
export async function readDiff(
  git: LookingGit,
  { from, to, form, settings, area }: DiffTerms,
): Promise<Result<Diff, Refusal>> {
  const { file, ignoreSpace = false, context = 3 } = form;
  if (context < 0) return no(invalid("context", "must not be negative", { value: String(context) }));
  const all = await git.fileChanges(from, to, { ignoreSpace });
  const asked = file === undefined ? all : all.filter(({ path }) => path === file);
  if (file !== undefined && asked.length === 0) return no(invalid("file", "is no file that changed", { value: file }));
  const isGenerated = (path: string): boolean => commandFor(settings, path) !== undefined;
  const reasons = closedFiles(asked, isGenerated);
  const outside = new Set(
    area === null
      ? []
      : outsideScope(
          asked.map(({ path }) => path),
          changeable(area),
        ),
  );
  const shownReason = (change: FileChange, reason: ClosedReason | null): ClosedReason | null => {
    if (file === undefined || reason === "binary" || reason === null) return reason;
    return (change.added ?? 0) + (change.removed ?? 0) > mostLines ? "large" : null;
  };
  const closed = asked.map((change, at) => shownReason(change, reasons[at] ?? null));
  const open = asked.filter((_, at) => closed[at] === null);
  const paths = open.flatMap(({ path, oldPath }) => (oldPath === null ? [path] : [oldPath, path]));
  const shape = { context: Math.min(context, mostContext), ignoreSpace };
  const patch = paths.length === 0 ? "" : await git.patch(from, to, paths, shape);
  const texts = new Map(patchedFiles(patch).map((part) => [part.path, part.text]));
  const files = asked.map((change, at): DiffFile => {
    const reason = closed[at] ?? null;
    const risks = risksOf(change, { outside: outside.has(change.path), closed: reasons[at] ?? null });
    return { ...change, risks, closed: reason, hunks: reason === null ? hunksIn(texts.get(change.path) ?? "") : [] };
  });
  const sum = (of: (change: FileChange) => number | null): number =>
    all.reduce((lines, one) => lines + (of(one) ?? 0), 0);
  return ok({ files, added: sum(({ added }) => added), removed: sum(({ removed }) => removed) });
}
