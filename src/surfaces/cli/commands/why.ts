import { whyView } from "../../../contract/views/provenance.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { LandingStory, UnlandedStory, WorkStory } from "../../../usecases/provenance/landing-story.ts";
import type { ExplainedLines, Why } from "../../../usecases/provenance/why.ts";
import { counted, moment, shortTime } from "../../shared/format.ts";
import type { Handler, Paint } from "../command.ts";
import { integer, text, word } from "../given.ts";

const defaultLimit = 20;

/** `ov why <file>[:line]`: which commit, agent, task, mail, turn and evidence a line comes from. */
export const why: Handler = async ({ app, args, flags, io }) => {
  const limit = integer(flags.limit) ?? defaultLimit;
  const found = await app.call("file.why", { file: word(args.file), branch: text(flags.branch), limit });
  if (!found.ok) return found;
  const { parts } = found.value;
  return ok({
    json: whyView(found.value),
    text: whyLines(found.value, io.paint).join("\n"),
    wraps: true,
    rows: {
      columns: ["lines", "commit", "agent", "task", "when", "text"],
      cells: parts.map(({ from, to, text: line, commit, landing, unlanded }) => [
        linesWords(from, to),
        commit?.id.slice(0, 12) ?? "-",
        landing?.entry.agentName ?? unlanded?.agent.name ?? "-",
        landing?.entry.taskId ?? unlanded?.agent.taskId ?? "-",
        moment(commit?.committedAt ?? null),
        line,
      ]),
    },
  });
};

const linesWords = (from: number, to: number): string => (from === to ? `${from}` : `${from}-${to}`);

function whyLines({ path, branch, parts, left, isChanged }: Why, paint: Paint): readonly string[] {
  const on = branch === null ? "" : ` on ${visibleLine(branch)}`;
  // Facts about a commit are printed once, not again for its other lines.
  const told = new Set<string>();
  return [
    paint.bold(`${visibleLine(path)}${on}`),
    ...(isChanged ? [paint.dim("It has changes that are not committed; lines are numbered as it is now.")] : []),
    ...parts.flatMap((part) => {
      const key = part.landing?.merge ?? part.commit?.id ?? "";
      const lines = partLines(part, paint, { isKnown: told.has(`${key} ${part.commit?.id ?? ""}`) });
      told.add(`${key} ${part.commit?.id ?? ""}`);
      return lines;
    }),
    ...(left === 0 ? [] : [paint.dim(`(${counted(left, "more part")}; see --limit, or name a line: file:12)`)]),
  ];
}

function partLines(part: ExplainedLines, paint: Paint, { isKnown }: { readonly isKnown: boolean }): readonly string[] {
  const { from, to, text: line, commit, landing, unlanded } = part;
  const head = `${paint.accent(linesWords(from, to))} ${paint.muted("|")} ${visibleLine(line.trim())}`;
  if (commit === null) return [head, "    not committed yet: your own change"];
  const now = Date.now();
  const facts = `commit ${commit.id.slice(0, 12)} ${visibleLine(commit.subject)} (${shortTime(commit.committedAt, now)})`;
  if (isKnown) return [head, paint.dim(`    as above: commit ${commit.id.slice(0, 12)}`)];
  const story =
    landing !== null
      ? landingLines(landing, paint, now)
      : unlanded !== null
        ? unlandedLines(unlanded, paint, now)
        : commit.isCutOff
          ? [cutOff]
          : [`by ${visibleLine(commit.author)}: a commit of a person, no agent`];
  return [head, `    ${facts}`, ...story.map((one) => `    ${one}`)];
}

const cutOff = "this clone is shallow and ends here: who wrote it is not known; for the rest: git fetch --unshallow";

const landingLines = (story: LandingStory, paint: Paint, now: number): readonly string[] => {
  const { entry } = story;
  const undone = entry.status === "reverted" ? ", then undone" : "";
  const landed = `landed as ${story.merge.slice(0, 12)} in ${visibleLine(entry.targetBranch)}${undone} ${paint.dim(`(ov merge show ${entry.id})`)}`;
  return workLines(story, { name: entry.agentName, taskId: entry.taskId, landed }, paint, now);
};

const unlandedLines = (story: UnlandedStory, paint: Paint, now: number): readonly string[] => {
  const { name, taskId } = story.agent;
  const landed = `not landed: on ${visibleLine(story.branch)} ${paint.dim(`(ov diff ${name})`)}`;
  return workLines(story, { name, taskId, landed }, paint, now);
};

interface Named {
  readonly name: string | null;
  readonly taskId: string | null;
  /** Where the work is. */
  readonly landed: string;
}

function workLines(story: WorkStory, { name, taskId, landed }: Named, paint: Paint, now: number): readonly string[] {
  const { agent, task, turn } = story;
  const kind =
    agent === null
      ? ""
      : ` (${agent.capability} of ${agent.parentName}, ${agent.runtime}${agent.model === null ? "" : ` ${agent.model}`})`;
  return [
    `agent ${paint.accent(visibleLine(name ?? "unknown"))}${visibleLine(kind)}`,
    ...(taskId === null ? [] : [`task ${visibleLine(taskId)}${task === null ? "" : `: ${visibleLine(task.title)}`}`]),
    ...story.messages.map(
      (message) =>
        `mail ${message.type} ${visibleLine(`${message.fromAgent} to ${message.address}: ${message.subject}`)} ${paint.dim(`(ov mail read ${message.id})`)}`,
    ),
    ...(turn === null
      ? []
      : [
          `turn ${turn.id}, ${shortTime(turn.startedAt ?? 0, now)} ${paint.dim(`(ov logs ${turn.agentName} --turn ${turn.id})`)}`,
        ]),
    ...story.calls.map((call) => `  call ${visibleLine(`${call.tool}: ${call.summary}`)}`),
    landed,
    ...story.receipts.map(({ receipt, results }) => {
      const gates = results.map(({ gate, status }) => `${gate} ${status}`).join(", ");
      const detail = gates === "" ? receipt.gaps.join("; ") : gates;
      return `evidence ${receipt.kind}: ${receipt.verdict}${detail === "" ? "" : ` (${visibleLine(detail)})`} ${paint.dim(`(ov gate show ${receipt.id})`)}`;
    }),
  ];
}
