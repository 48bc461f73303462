import { severities, verdicts } from "../mail/payload-shapes.ts";
import type { Priority } from "../mail/types.ts";
import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import { jsonProblem } from "../text/json-problem.ts";

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
  /** Why no code was to be changed. Absent in requests that an earlier version stored. */
  readonly noCodeReason?: string | null;
  /** Present when it was asked for by mail, of which `summary` is the text. */
  readonly mail?: FinishMail;
}

/** The message by which an agent said that it is done. The report is sent in its place: same subject, same thread. */
export interface FinishMail {
  readonly subject: string;
  readonly payload: string | null;
  readonly priority: Priority;
  /** The report is stored under it, so that a repeated turn does not report twice. */
  readonly dedupeKey: string | null;
  /** The file with the whole text, when the text was too long for a message. */
  readonly blobPath: string | null;
  readonly answer: {
    readonly threadId: string;
    readonly replyTo: string;
    readonly hop: number;
    readonly awaitedBy: string | null;
  } | null;
}

/**
 * The request of an agent that finishes by mail. Mail has fewer fields than `ov done`: the others stay as an earlier
 * `ov done` of the agent gave them.
 */
export const doneByMail = (summary: string, mail: FinishMail, before: DoneRequest | undefined): DoneRequest => ({
  ...(before ?? { learned: null, verdict: null, findings: [], branch: null, expansionReason: null, noCode: false }),
  summary,
  mail,
});

export interface TypedDone {
  readonly summary: string;
  readonly learned?: string | undefined;
  readonly verdict?: string | undefined;
  readonly findings?: string | undefined;
  readonly branch?: string | undefined;
  readonly expansionReason?: string | undefined;
  readonly noCode?: boolean | undefined;
  readonly reason?: string | undefined;
}

/** Reads the typed flags. A blank text counts as missing. */
export function parseDone(typed: TypedDone): Result<DoneRequest, InvalidInput> {
  const summary = typed.summary.trim();
  if (summary === "") return no(invalid("summary", "must say what was done"));
  const verdict = verdicts.find((known) => known === typed.verdict) ?? null;
  if (typed.verdict !== undefined && verdict === null) {
    return no(invalid("verdict", "is not a verdict", { value: typed.verdict, allowed: verdicts }));
  }
  const findings = parseFindings(typed.findings ?? "");
  if (!findings.ok) return findings;
  const noCodeReason = textOrNull(typed.reason);
  if (noCodeReason !== null && typed.noCode !== true) return no(invalid("reason", "belongs to --no-code"));
  return ok({
    summary,
    verdict,
    findings: findings.value,
    learned: textOrNull(typed.learned),
    branch: textOrNull(typed.branch),
    expansionReason: textOrNull(typed.expansionReason),
    noCode: typed.noCode === true,
    noCodeReason,
  });
}

function textOrNull(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? null : trimmed;
}

/** A review of this verdict sends the branch back. */
export const sendsBack = (verdict: ReviewVerdict | null): boolean => verdict === "fail" || verdict === "needs_changes";

/** One thing a review found. An empty file: it is about the whole. */
export interface Finding {
  readonly file: string;
  readonly line: number | null;
  readonly severity: string;
  readonly text: string;
  /** What would be right. Absent in requests that an earlier version stored. */
  readonly expected?: string | null;
  /** The number of the criterion that is not met, where a last review says so. */
  readonly criterion?: number;
}

/**
 * Findings as JSON, `[{file, line?, severity?, text, expected?, criterion?}]`, or as lines: `file:line: text`, `file: text`,
 * `criterion <n>: text`, or plain text. In a line the severity may stand before the text, as compilers write it; a line `expected: <text>` belongs to
 * the finding above it.
 */
export function parseFindings(typed: string): Result<readonly Finding[], InvalidInput> {
  const text = typed.trim();
  if (text === "") return ok([]);
  if (text.startsWith("[") || text.startsWith("{")) return fromJson(text);
  const findings: Finding[] = [];
  for (const line of text.split("\n").map((each) => each.trim())) {
    const expected = /^expected:\s+(.+)$/i.exec(line)?.[1];
    const above = findings.at(-1);
    if (expected !== undefined && above !== undefined && above.expected === null) {
      findings[findings.length - 1] = { ...above, expected };
    } else if (line !== "") findings.push(fromLine(line));
  }
  return ok(findings);
}

/** The lines of a finding as a person reads them, in the form that is also read back. */
export function findingLines(finding: Finding): readonly string[] {
  const { file, line, severity, text, expected = null, criterion } = finding;
  const place = line === null ? `${file}: ` : `${file}:${line}: `;
  const about = criterion === undefined ? "" : `criterion ${criterion}: `;
  const said = `${about}${file === "" ? "" : place}${severity}: ${text}`;
  return [`- ${said}`, ...(expected === null ? [] : [`  expected: ${expected}`])];
}

const ordinary = "error";

function fromLine(line: string): Finding {
  const { criterion, item } = aboutCriterion(line.replace(/^[-*]\s+/, ""));
  return { ...aboutIts(placed(item)), ...(criterion === undefined ? {} : { criterion }) };
}

/** The criterion may also stand behind the place and the severity. */
function aboutIts(finding: Finding): Finding {
  const { criterion, item } = aboutCriterion(finding.text);
  return criterion === undefined || finding.criterion !== undefined ? finding : { ...finding, text: item, criterion };
}

/** `criterion 3: the rest` is about criterion 3. */
function aboutCriterion(words: string): { readonly criterion?: number; readonly item: string } {
  const [, number, rest] = /^criterion\s+(\d{1,4})\s*:\s+(.+)$/i.exec(words) ?? [];
  return number === undefined || rest === undefined ? { item: words } : { criterion: Number(number), item: rest };
}

function placed(item: string): Finding {
  const [, file, number, words] = /^([^\s:]+)(?::(\d+))?(?::\d+)?:\s+(.+)$/.exec(item) ?? [];
  const isPath = file !== undefined && (number !== undefined || /[./]/.test(file));
  if (!isPath || words === undefined) return { file: "", line: null, ...graded(item), expected: null };
  return { file, line: number === undefined ? null : Number(number), ...graded(words), expected: null };
}

/** A text with the severity before it; the ordinary one where none is named. */
function graded(words: string): Pick<Finding, "severity" | "text"> {
  const [, severity, text] = /^(\w+):\s+(.+)$/.exec(words) ?? [];
  const known = severities.find((each) => each === severity?.toLowerCase());
  return known === undefined || text === undefined ? { severity: ordinary, text: words } : { severity: known, text };
}

const forms = "must be lines of text, or JSON: a list of {file, line?, severity?, text, expected?, criterion?}";

function fromJson(text: string): Result<readonly Finding[], InvalidInput> {
  const broken = jsonProblem(text);
  if (broken !== undefined) return no(invalid("findings", `${forms}; as JSON, ${broken}`));
  const value = parsed(text);
  const list = Array.isArray(value) ? value : [value];
  const findings = list.map(findingOf);
  if (findings.some((finding) => finding === undefined)) {
    return no(invalid("findings", forms));
  }
  return ok(findings.filter((finding) => finding !== undefined));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Text that is no JSON is no list of findings.
    return undefined;
  }
}

function findingOf(value: unknown): Finding | undefined {
  if (typeof value !== "object" || value === null || !("text" in value) || typeof value.text !== "string") {
    return undefined;
  }
  const file = "file" in value && typeof value.file === "string" ? value.file : "";
  const line = "line" in value && typeof value.line === "number" ? value.line : null;
  const severity = "severity" in value && typeof value.severity === "string" ? value.severity.toLowerCase() : ordinary;
  const expected = "expected" in value && typeof value.expected === "string" ? value.expected : undefined;
  const criterion = "criterion" in value && typeof value.criterion === "number" ? value.criterion : undefined;
  const found = { file, line, severity, text: value.text, expected: textOrNull(expected) };
  return criterion === undefined ? aboutIts(found) : { ...found, criterion };
}

/** So many reviews in a row may send a branch back before the level above the lead has to decide. */
export const mostFailedReviews = 3;

/**
 * How often the branch was sent back since it last passed. Verdicts in the order in which they were given; the count
 * belongs to the name that owns the branch, so it survives each reopening.
 */
export function failsInARow(verdicts: readonly ReviewVerdict[]): number {
  const last = verdicts.findLastIndex((verdict) => !sendsBack(verdict));
  return verdicts.length - 1 - last;
}

/** This verdict, after the earlier ones, goes above the lead: another round would be the same again. */
export const escalates = (before: readonly ReviewVerdict[], verdict: ReviewVerdict): boolean =>
  sendsBack(verdict) && failsInARow([...before, verdict]) >= mostFailedReviews;

/**
 * Branches of agents that texts name, in order of first mention. The assignment of a reviewer or merger names its branches
 * in its words.
 */
export function branchesIn(texts: readonly (string | null)[]): readonly string[] {
  const found = texts.flatMap((text) => [...(text ?? "").matchAll(agentBranch)].map(([branch]) => trimmed(branch)));
  return [...new Set(found)];
}

const agentBranch = /\boverstory\/(?!integration\/)[a-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*/g;

/** A sentence may end behind a name. */
const trimmed = (branch: string): string => branch.replace(/[.-]+$/, "");
