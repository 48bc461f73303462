import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { BlamedLine, CommitFacts, FileHistory, NamedPlace } from "../../ports/file-history.ts";
import { matchingPlaces } from "../../structured-merge/index.ts";
import type { Effect, World } from "../operation.ts";
import type { LandingStory, UnlandedStory } from "./landing-story.ts";

export interface WhyRequest {
  /** Where it was typed; `file`, `file:12` or `file:12-20`. */
  readonly file: string;
  /** Look at the file of this branch. */
  readonly branch?: string | undefined;
  /** The most parts of the file that are explained. */
  readonly limit: number;
}

/** Neighbouring lines that one commit wrote, and how it came to be. */
export interface ExplainedLines {
  readonly from: number;
  readonly to: number;
  /** The first of the lines. */
  readonly text: string;
  /** Null for lines that are in no commit yet. */
  readonly commit: CommitFacts | null;
  /** The merge that brought the commit, when a landing of ours did. */
  readonly landing: LandingStory | null;
  /** The agent that made the commit, when no landing brought it. */
  readonly unlanded: UnlandedStory | null;
}

export interface Why {
  readonly path: string;
  readonly branch: string | null;
  readonly tip: string;
  readonly parts: readonly ExplainedLines[];
  /** Parts of the file that are not explained here. */
  readonly left: number;
  /** The file of the checkout has changes that are not committed. */
  readonly isChanged: boolean;
}

/** Says for lines of a file which commit wrote them, and for a commit of an agent: agent, task, mail, turn and evidence. */
export const whyFile: Effect<WhyRequest, Why> = {
  kind: "effect",
  request: fields({ file: text, limit: whole }, { branch: text }),
  place: "caller",
  run: async (world, { file, branch, limit }) => {
    const history = await world.fileHistory();
    const asked = await placeAsked(world, history, file, branch);
    if (!asked.ok) return asked;
    const { place, range } = asked.value;
    const lines = await linesOf(history, place, range);
    if (!lines.ok) return no(invalid("file", lines.refusal, { value: file }));
    const parts = partsOf(lines.value.lines);
    const shown = parts.slice(0, limit);
    const explain = explainer(world, history, place);
    const explained: ExplainedLines[] = [];
    for (const part of shown) {
      const found = await explain(part.commit);
      if (!found.ok) return found;
      explained.push({ ...part, ...found.value });
    }
    const { path, tip } = place;
    return ok({
      path,
      tip,
      branch: place.branch,
      parts: explained,
      left: parts.length - shown.length,
      isChanged: lines.value.isChanged,
    });
  },
};

interface Asked {
  readonly place: NamedPlace;
  readonly range: { readonly from: number; readonly to: number } | undefined;
}

/** A name may end like a line number: the file of the whole name counts before that of the shorter one. */
async function placeAsked(
  world: World,
  history: FileHistory,
  typed: string,
  branch: string | undefined,
): Promise<Result<Asked, Refusal>> {
  const whole = await locateAnywhere(world, history, typed, branch);
  if (whole.ok) return ok({ place: whole.value, range: undefined });
  const [, name, first, last] = /^([\s\S]+):(\d{1,9})(?:-(\d{1,9}))?$/.exec(typed) ?? [];
  if (name === undefined) return no(invalid("file", whole.refusal, { value: typed }));
  const place = await locateAnywhere(world, history, name, branch);
  if (!place.ok) return no(invalid("file", place.refusal, { value: name }));
  const [from, to] = [Number(first), Number(last ?? first)];
  if (from < 1 || to < from)
    return no(invalid("line", "must be a line from 1 on, or two of them as 12-20", { value: typed }));
  return ok({ place: place.value, range: { from, to } });
}

/**
 * Finds the lines in the checkout. If no branch is named and the checkout lacks them, on the landing branches of the
 * newest runs, where landed work waits for its promotion.
 */
async function locateAnywhere(
  world: World,
  history: FileHistory,
  name: string,
  branch: string | undefined,
): Promise<Result<NamedPlace, string>> {
  const found = await history.locate(name, branch);
  if (found.ok || branch !== undefined) return found;
  const runs = await world.call("run.list", { last: newestRuns });
  const landings = runs.ok ? runs.value.runs.flatMap(({ run }) => run.landingBranch ?? []) : [];
  for (const landing of new Set(landings)) {
    const landed = await history.locate(name, landing);
    if (landed.ok) return landed;
  }
  return found;
}

const newestRuns = 5;

interface Line {
  readonly line: number;
  readonly commit: string | null;
  readonly text: string;
}

/** Comparing larger texts takes too long: then the lines are those of the committed file. */
const mostComparedLines = 20_000;

/** Lines are numbered as in the checkout, where a person reads them. Lines of no commit are theirs. */
async function linesOf(
  history: FileHistory,
  place: NamedPlace,
  range: Asked["range"],
): Promise<Result<{ readonly lines: readonly Line[]; readonly isChanged: boolean }, string>> {
  if (place.text === null) return asIs(await history.blame(place, range));
  const own = textLines(place.text);
  const whole =
    own.length <= mostComparedLines ? await history.blame(place, undefined) : await history.blame(place, range);
  if (!whole.ok || own.length > mostComparedLines) return asIs(whole);
  const committed = whole.value.map(({ text: line }) => withoutReturn(line));
  // A filter made other words of it. What has other lines, as a large file that is stored elsewhere, is shown as stored.
  if (place.isCommitted && own.length !== committed.length) return asIs(await history.blame(place, range));
  const isChanged =
    !place.isCommitted && (own.length !== committed.length || own.some((line, at) => line !== committed[at]));
  const places = isChanged ? matchingPlaces(own, committed) : own.map((_, at) => at);
  const lines = own.map((line, at): Line => {
    const from = places[at];
    return { line: at + 1, text: line, commit: from === undefined ? null : (whole.value[from]?.commit ?? null) };
  });
  if (range === undefined) return ok({ lines, isChanged });
  if (range.from > lines.length) return no(`has only ${lines.length} ${lines.length === 1 ? "line" : "lines"}`);
  return ok({ lines: lines.slice(range.from - 1, range.to), isChanged });
}

const asIs = (blamed: Result<readonly BlamedLine[], string>) =>
  blamed.ok ? ok({ lines: blamed.value, isChanged: false }) : blamed;

const textLines = (all: string): readonly string[] => {
  const lines = all.split("\n").map(withoutReturn);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
};

const withoutReturn = (line: string): string => line.replace(/\r$/, "");

/** Neighbouring lines of one commit as one part. */
function partsOf(lines: readonly Line[]): readonly (Omit<ExplainedLines, keyof Explained> & Pick<Line, "commit">)[] {
  const parts: { from: number; to: number; text: string; commit: string | null }[] = [];
  for (const { line, commit, text: words } of lines) {
    const last = parts.at(-1);
    if (last !== undefined && last.commit === commit && last.to === line - 1) last.to = line;
    else parts.push({ from: line, to: line, text: words, commit });
  }
  return parts;
}

type Explained = Pick<ExplainedLines, "commit" | "landing" | "unlanded">;

/** Explains a commit once, however many parts it wrote. */
function explainer(world: World, history: FileHistory, { path, tip }: NamedPlace) {
  const known = new Map<string, Explained>();
  return async (id: string | null): Promise<Result<Explained, Refusal>> => {
    if (id === null) return ok(uncommitted);
    const before = known.get(id);
    if (before !== undefined) return ok(before);
    const commit = await history.commit(id);
    if (commit === undefined) return ok(uncommitted);
    const merges = [commit, ...(await history.mergesThatBrought(id, tip))];
    // The innermost one is the work of the agent; a merge around it may be a lead's or a user's.
    for (const merge of [commit, ...merges.slice(1).toReversed()]) {
      const story = await world.call("file.explainLanding", {
        merge: merge.id,
        queueId: Number(merge.trailers["Queue-Id"] ?? 0) || 0,
        committedAt: commit.committedAt,
        path,
      });
      if (!story.ok) return story;
      if (story.value.landing === null) continue;
      const explained = { commit, landing: story.value.landing, unlanded: null };
      known.set(id, explained);
      return ok(explained);
    }
    const unlanded = await unlandedStory(world, history, commit, path);
    if (!unlanded.ok) return unlanded;
    const explained = { commit, landing: null, unlanded: unlanded.value };
    known.set(id, explained);
    return ok(explained);
  };
}

const uncommitted: Explained = { commit: null, landing: null, unlanded: null };

/** Git does not say who made a commit: an agent did when it is on its own branch, and from a time when its program ran. */
async function unlandedStory(
  world: World,
  history: FileHistory,
  { id, committedAt }: CommitFacts,
  path: string,
): Promise<Result<UnlandedStory | null, Refusal>> {
  const branches = await history.agentBranchesWith(id);
  if (branches.length === 0) return ok(null);
  const found = await world.call("file.explainUnlanded", { branches, committedAt, path });
  if (!found.ok) return found;
  for (const story of found.value.candidates) {
    const base = story.agent.baseCommit;
    if (base !== null && (await history.isMadeOn(id, story.branch, base))) return ok(story);
  }
  return ok(null);
}
