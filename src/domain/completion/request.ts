import { verdicts } from "../mail/payload-shapes.ts";
import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import { type Finding, parseFindings } from "./findings.ts";

export type ReviewVerdict = (typeof verdicts)[number];

/** Everything an agent says when it says that it is done, checked word by word. */
export interface DoneRequest {
  readonly summary: string;
  readonly learned: string | null;
  readonly verdict: ReviewVerdict | null;
  readonly findings: readonly Finding[];
  /** The branch that was reviewed, where it does not follow from the assignment. */
  readonly branch: string | null;
  readonly expansionReason: string | null;
  readonly noCode: boolean;
}

export interface TypedDone {
  readonly summary: string;
  readonly learned?: string | undefined;
  readonly verdict?: string | undefined;
  readonly findings?: string | undefined;
  readonly branch?: string | undefined;
  readonly expansionReason?: string | undefined;
  readonly noCode?: boolean | undefined;
}

/** Reads what was typed. A blank text is none. */
export function parseDone(typed: TypedDone): Result<DoneRequest, InvalidInput> {
  const summary = typed.summary.trim();
  if (summary === "") return no(invalid("summary", "must say what was done"));
  const verdict = verdicts.find((known) => known === typed.verdict) ?? null;
  if (typed.verdict !== undefined && verdict === null) {
    return no(invalid("verdict", "is not a verdict", { value: typed.verdict, allowed: verdicts }));
  }
  const findings = parseFindings(typed.findings ?? "");
  if (!findings.ok) return findings;
  return ok({
    summary,
    verdict,
    findings: findings.value,
    learned: textOrNull(typed.learned),
    branch: textOrNull(typed.branch),
    expansionReason: textOrNull(typed.expansionReason),
    noCode: typed.noCode === true,
  });
}

function textOrNull(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? null : trimmed;
}

/** A review of this verdict sends the branch back. */
export const sendsBack = (verdict: ReviewVerdict | null): boolean => verdict === "fail" || verdict === "needs_changes";
