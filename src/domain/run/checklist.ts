import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import type { Run } from "./run.ts";

/**
 * file    a file of the landed tree
 * test    a file of the landed tree, and a name that stands in it; without a name in rows of earlier versions
 * commit  a commit in the history of the landed tree
 */
export const proofKinds = ["file", "test", "commit"] as const;
export type ProofKind = (typeof proofKinds)[number];

/**
 * One numbered sentence of a run's checklist. Numbers are given once and never reused, and no criterion is deleted.
 *
 *   open    -> proved  evidence was found on the landed tree
 *   open    -> waived  the operator decided that it need not be met
 *   waived  -> open    the operator took that back; with evidence it is proved again
 *   proved  -> open    by other words of the criterion (change.ts)
 *   proved  -> open    the landed tree has the evidence no more, or the last review found that it does not show the criterion
 */
export interface Criterion {
  readonly runId: string;
  readonly number: number;
  readonly text: string;
  readonly addedBy: string;
  readonly addedAt: number;
  readonly waivedBy: string | null;
  readonly waivedAt: number | null;
  readonly waiveReason: string | null;
  readonly proofKind: ProofKind | null;
  readonly proofPath: string | null;
  readonly proofTest: string | null;
  readonly proofCommit: string | null;
  readonly provedBy: string | null;
  readonly provedAt: number | null;
  /** The landed commit on which the evidence was last found. */
  readonly checkedCommit: string | null;
  /** The evidence is as it was before anything of the run landed. */
  readonly proofUnchanged: boolean;
  /** Why the evidence does not count any more, as the end of a sentence about it; null while it counts. */
  readonly proofLost: string | null;
}

export type CriterionStatus = "open" | "proved" | "waived";

export function criterionStatus(criterion: Pick<Criterion, "waivedAt" | "proofKind" | "proofLost">): CriterionStatus {
  if (criterion.waivedAt !== null) return "waived";
  return criterion.proofKind === null || criterion.proofLost !== null ? "open" : "proved";
}

/** What a checklist has to know about the last review. */
export interface LastReviewFacts {
  /** It did not pass, and a finding names no criterion: it may be about any of them. */
  readonly isVague: boolean;
  readonly givenAt: number;
}

/** `doubted`: there is evidence, but the last review did not pass, and does not name a criterion for each finding. */
export type ShownStatus = CriterionStatus | "doubted";

/** How a criterion stands after the last review. Evidence that was found since then counts again. */
export function statusAfterReview(criterion: Criterion, review: LastReviewFacts | null): ShownStatus {
  const status = criterionStatus(criterion);
  if (review === null || status !== "proved" || !review.isVague) return status;
  return (criterion.provedAt ?? 0) > review.givenAt ? status : "doubted";
}

/** Evidence that was given for a criterion. */
export type Evidence =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "test"; readonly path: string; readonly test: string | null }
  | { readonly kind: "commit"; readonly commit: string };

/**
 * The checklist of a run. While the objective is not split, the objective itself is criterion 1, so that no run with an
 * objective ends without a look at it.
 */
export function checklistOf(
  run: Pick<Run, "id" | "objective" | "checklist" | "startedAt">,
  stored: readonly Criterion[],
): readonly Criterion[] {
  if (stored.length > 0 || !run.checklist || run.objective === null) return stored;
  return [fresh({ runId: run.id, number: 1, text: run.objective, addedBy: "system", addedAt: run.startedAt })];
}

const longest = 500;
const most = 50;

/** Adds criteria at the end of the list. */
export function addCriteria(
  runId: string,
  stored: readonly Criterion[],
  texts: readonly string[],
  { by, now }: { readonly by: string; readonly now: number },
): Result<readonly Criterion[], InvalidInput> {
  if (texts.length === 0) return no(invalid("text", "must say what has to be true in the end"));
  const given: string[] = [];
  for (const typed of texts) {
    const text = criterionText("text", typed);
    if (!text.ok) return text;
    given.push(text.value);
  }
  const known = new Set(stored.map(({ text }) => text));
  const twice = given.find((text, at) => known.has(text) || given.indexOf(text) !== at);
  if (twice !== undefined) return no(invalid("text", "is a criterion of this run already", { value: twice }));
  if (stored.length + given.length > most) {
    return no(invalid("text", `is one too many: a run has at most ${most} criteria`));
  }
  const last = Math.max(0, ...stored.map(({ number }) => number));
  return ok(given.map((text, at) => fresh({ runId, number: last + 1 + at, text, addedBy: by, addedAt: now })));
}

/** The words of a criterion as they are stored: one line of bounded length. */
export function criterionText(field: string, typed: string): Result<string, InvalidInput> {
  const words = typed.trim().replace(/\s+/g, " ");
  if (words === "") return no(invalid(field, "must say what has to be true in the end"));
  if (words.length <= longest) return ok(words);
  const value = `${words.slice(0, 40)}...`;
  return no(invalid(field, `must have at most ${longest} characters; split it`, { value }));
}

/** The evidence of a criterion that has none. */
export const unproved = {
  proofKind: null,
  proofPath: null,
  proofTest: null,
  proofCommit: null,
  provedBy: null,
  provedAt: null,
  checkedCommit: null,
  proofUnchanged: false,
  proofLost: null,
} as const;

const fresh = (criterion: Pick<Criterion, "runId" | "number" | "text" | "addedBy" | "addedAt">): Criterion => ({
  ...criterion,
  waivedBy: null,
  waivedAt: null,
  waiveReason: null,
  ...unproved,
});

export interface TypedEvidence {
  readonly file?: string | undefined;
  /** A path and a name that stands in the file: `test/a.test.ts:reads dates`. */
  readonly test?: string | undefined;
  readonly commit?: string | undefined;
}

/** Exactly one sort of evidence, as typed. */
export function parseEvidence({ file, test, commit }: TypedEvidence): Result<Evidence, InvalidInput> {
  const given = [file, test, commit].filter((one) => one !== undefined && one.trim() !== "");
  if (given.length !== 1) return no(invalid("evidence", "must be one of --file, --test and --commit"));
  if (commit !== undefined && commit.trim() !== "") {
    const id = commit.trim().toLowerCase();
    if (!/^[0-9a-f]{7,64}$/.test(id)) return no(invalid("commit", "must be the id of a commit", { value: commit }));
    return ok({ kind: "commit", commit: id });
  }
  const typed = (file ?? test ?? "").trim();
  const colon = file === undefined ? typed.indexOf(":") : -1;
  const path = (colon < 0 ? typed : typed.slice(0, colon)).replace(/^\.\//, "");
  const name = colon < 0 ? "" : typed.slice(colon + 1).trim();
  const field = file === undefined ? "test" : "file";
  if (path === "" || /^[/\\~]/.test(path) || path.split("/").includes("..")) {
    return no(
      invalid(field, "must be a path inside the project, without a leading / and without ..", { value: typed }),
    );
  }
  if (field === "file") return ok({ kind: "file", path });
  if (name !== "") return ok({ kind: "test", path, test: name });
  const problem = "must be <path>:<name>, with a name that stands in the file; for a whole file: --file";
  return no(invalid("test", problem, { value: typed }));
}

/** What a look at a landed commit says about evidence. */
export interface SeenEvidence {
  /** The landed commit. */
  readonly landed: string;
  /** The evidence is as it was before anything of the run landed. */
  readonly unchanged: boolean;
}

/** The criterion with evidence that was found on a landed commit. Newer evidence replaces older. */
export const proveCriterion = (
  criterion: Criterion,
  evidence: Evidence,
  { by, now, landed, unchanged }: SeenEvidence & { readonly by: string; readonly now: number },
): Criterion => ({
  ...criterion,
  proofKind: evidence.kind,
  proofPath: evidence.kind === "commit" ? null : evidence.path,
  proofTest: evidence.kind === "test" ? evidence.test : null,
  proofCommit: evidence.kind === "commit" ? evidence.commit : null,
  provedBy: by,
  provedAt: now,
  checkedCommit: landed,
  proofUnchanged: unchanged,
  proofLost: null,
});

/** The criterion after another look at the same evidence, which was found again. */
export const seeProofAgain = (criterion: Criterion, { landed, unchanged }: SeenEvidence): Criterion => ({
  ...criterion,
  checkedCommit: landed,
  proofUnchanged: unchanged,
});

/** The criterion without counting evidence. The lost evidence stays stored. */
export const loseProof = (criterion: Criterion, why: string): Criterion => ({ ...criterion, proofLost: why });

export const waiveCriterion = (
  criterion: Criterion,
  { by, now, reason }: { readonly by: string; readonly now: number; readonly reason: string },
): Criterion => ({ ...criterion, waivedBy: by, waivedAt: now, waiveReason: reason });

/** The criterion has to be met again. Evidence that it had counts as before. */
export const takeWaiverBack = (criterion: Criterion): Criterion => ({
  ...criterion,
  waivedBy: null,
  waivedAt: null,
  waiveReason: null,
});

/** The evidence of a criterion; undefined while it has none. */
export function evidenceOf(criterion: Criterion): Evidence | undefined {
  const { proofKind: kind, proofPath: path, proofTest: test, proofCommit: commit } = criterion;
  if (kind === "commit" && commit !== null) return { kind, commit };
  if (kind === "file" && path !== null) return { kind, path };
  return kind === "test" && path !== null ? { kind, path, test } : undefined;
}

/** The evidence in words: `test a.test.ts "reads dates"`. */
export function evidenceWords(evidence: Evidence): string {
  if (evidence.kind === "commit") return `commit ${evidence.commit.slice(0, 12)}`;
  if (evidence.kind === "file" || evidence.test === null) return `${evidence.kind} ${evidence.path}`;
  return `test ${evidence.path} "${evidence.test}"`;
}

/** The evidence of a criterion in words, with remarks for the reader; undefined while none was ever given. */
export function proofWords(criterion: Criterion): string | undefined {
  const evidence = evidenceOf(criterion);
  if (evidence === undefined) return undefined;
  const words = evidenceWords(evidence);
  if (criterion.proofLost !== null) return `${words} ${criterion.proofLost}`;
  return criterion.proofUnchanged ? `${words}, unchanged since before this run` : words;
}

/** A task that says that it serves a criterion. */
export interface TaskCriterion {
  readonly taskId: string;
  readonly runId: string;
  readonly number: number;
}

/** Criteria without proof or waiver that none of these tasks serves. */
export const unserved = (criteria: readonly Criterion[], tasks: readonly TaskCriterion[]): readonly Criterion[] =>
  criteria.filter(
    (criterion) => criterionStatus(criterion) === "open" && !tasks.some(({ number }) => number === criterion.number),
  );

/** The option of a question by which the operator waives a criterion: choosing it does that. */
export const waiveOption = (number: number): string => `waive criterion ${number}`;

/**
 * The criteria that an option of a question waives: "waive criterion 2", or "waive criteria 1, 2 and 4". Behind a sign
 * it may say more, where that names no other number.
 */
export function criteriaToWaive(option: string): readonly number[] {
  const numbers = waives.exec(option.trim())?.[1];
  return numbers === undefined ? [] : [...new Set(numbers.match(/\d+/g)?.map(Number))];
}

const waives = /^waive criteri(?:on|a) (\d{1,4}(?:(?:,? and |, ?)\d{1,4})*)(?:\s?[.,:;(\u2013\u2014-][^\d]*)?$/i;

/** An option that reads as if it waived criteria, and names none of them. */
export const isUnclearWaiver = (option: string): boolean =>
  /^\s*waive\b.*\bcriteri(?:on|a)\b/i.test(option) && criteriaToWaive(option).length === 0;
