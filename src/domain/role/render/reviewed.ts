import { headerLine, quoted } from "../../text/visible.ts";
import type { Assignment, Subject } from "../assignment.ts";
import { code, fenced, paragraphs } from "./markdown.ts";

/** What a reviewer judges, and by what, section by section. Undefined for every other agent. */
export function renderReviewed(given: Assignment): string | undefined {
  const sections = [underReview(given), reviewBefore(given), decided(given), waived(given)];
  return sections.every((section) => section === undefined) ? undefined : paragraphs(sections);
}

/** Which branch a reviewer judges, and where its files are. */
function underReview({ agent, subject }: Assignment): string | undefined {
  if (subject === null) return undefined;
  const { name, branch, baseCommit } = subject;
  const since = baseCommit === null ? "" : `, which started from ${code(short(baseCommit))}`;
  return paragraphs([
    `### Under Review\n\nThe branch ${code(branch)} of ${code(name)}${since}. ${whereItIs(agent, subject)}`,
    subject.summary === null ? undefined : fenced(`What ${code(name)} says about it`, quotedUpTo(subject.summary)),
  ]);
}

/** A reviewer that comes second judges by what the first asked for. */
function reviewBefore({ reviewBefore: before, readsWhole }: Assignment): string | undefined {
  if (before === null) return undefined;
  const found = `${code(before.by)} reviewed an earlier version and gave ${code(before.verdict)}`;
  return paragraphs([
    "### The Review Before",
    readsWhole
      ? "Judge first whether this is mended. Then judge the whole as if it were read for the first time: the first review may have missed something."
      : "Judge first whether this is mended. A new wish that the first review did not have is a remark, and fails nothing.",
    fenced(found, quotedUpTo(before.findings)),
  ]);
}

/** The answers of the operator stand in no task: only the agent that asked has them. */
function decided({ decisions }: Assignment): string | undefined {
  if (decisions.length === 0) return undefined;
  const lines = decisions.flatMap(({ by, question, answer }) =>
    question === null
      ? [headerLine(`operator to ${by}`, answer)]
      : [headerLine(`${by} asked`, question), headerLine("operator", answer)],
  );
  return paragraphs([
    "### Decided by the Operator",
    "What the operator answered and told agents in this run, oldest first. It counts beside the objective and the criteria. Where they say something else, the operator's newer word counts.",
    fenced("Their words", lines),
  ]);
}

function waived({ waived: criteria }: Assignment): string | undefined {
  if (criteria.length === 0) return undefined;
  return paragraphs([
    "### Waived by the Operator",
    "What these criteria ask for need not be met. It is no finding, also where the objective asks for it.",
    fenced(
      "The waived criteria",
      criteria.map(({ number, text, reason }) => headerLine(`criterion ${number}`, `${text} (waived: ${reason})`)),
    ),
  ]);
}

const longestQuote = 6000;

/** The text of another agent as a quotation, cut off at a length that can be read. */
const quotedUpTo = (text: string): readonly string[] =>
  quoted(text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text.trimEnd());

function whereItIs({ baseRef, baseCommit: held }: Assignment["agent"], { branch, headCommit }: Subject): string {
  if (baseRef !== branch || held === null) return "Its files are not in your worktree: read them through git.";
  if (headCommit === null || headCommit === held) {
    return "Your worktree holds it: the files you see and the gates you run there are those of the branch.";
  }
  return `Your worktree holds it as of ${code(short(held))}; it was last seen at ${code(short(headCommit))}. Judge the newer one: read it through git.`;
}

const short = (commit: string): string => commit.slice(0, 12);
