import {
  type EarlierPart,
  type EarlierRow,
  earlierPartNames,
  earlierParts,
  editedParts,
  type NotImportable,
  type RowProblem,
} from "../../domain/earlier/earlier-project.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag } from "../../domain/schema/schema.ts";
import { resolveTracker } from "../../domain/tracker/tracker.ts";
import type { OpenedEarlier } from "../../ports/earlier-project.ts";
import type { Effect, World } from "../operation.ts";
import { whyUnreadable } from "./takers.ts";

export interface ImportedPart {
  readonly part: EarlierPart;
  /** The file, and the table in it. */
  readonly source: string;
  /** Rows that the file has. */
  readonly rows: number;
  /** Rows that this import took, or would. */
  readonly taken: number;
  /** Rows that an earlier import looked at, and that this one does not look at again. */
  readonly before: number;
  /** Rows of which the project had the same already. */
  readonly present: number;
  /** Why the part stays where it is. */
  readonly leftOut: string | null;
}

export interface ImportReport {
  readonly dryRun: boolean;
  readonly parts: readonly ImportedPart[];
  /** Rows that were not taken, or not as they were. */
  readonly problems: readonly RowProblem[];
  /** Settings of the earlier version that have no effect, or another name. */
  readonly settings: readonly string[];
  /** What stays as it is, and what to do about it. */
  readonly remarks: readonly string[];
}

const rowsAtOnce = 500;

/**
 * Takes over a project of an earlier version, part by part and some rows in each transaction, together with how far it
 * came. A process that dies leaves a place from which the next import goes on. Files of the earlier version are only read.
 */
export const importProject: Effect<{ readonly dryRun: boolean }, ImportReport> = {
  kind: "effect",
  request: fields({ dryRun: flag }),
  place: "caller",
  operatorOnly: true,
  action: () => "import an earlier project",
  run: async (world, { dryRun }) => {
    const opened = await (await world.earlierProject()).open();
    if (!opened.ok) return opened;
    await using earlier = opened.value;
    if (earlier.parts.size === 0) return no(nothingThere);
    const running = await earlier.running();
    const [first] = running;
    if (first !== undefined)
      return no(
        stillRuns(
          running.map(({ what }) => what),
          first.end,
        ),
      );
    const { project, taskTracker } = await world.settings();
    const tracker = resolveTracker(taskTracker.backend, (await world.trackers()).facts());
    const targetBranch = earlier.targetBranch ?? project.canonicalBranch;
    const done = await world.call("import.read", {});
    if (!done.ok) return done;
    const places = new Map(done.value.map(({ source, place }) => [source, place]));
    const parts: ImportedPart[] = [];
    const problems: RowProblem[] = [];
    for (const part of earlierPartNames) {
      const rows = earlier.parts.get(part);
      if (rows === undefined) continue;
      const source = earlierParts[part];
      const isEdited = editedParts.includes(part);
      const place = places.get(source) ?? 0;
      // A dry run looks at new rows only; it does not compare known ones.
      const from = isEdited && !dryRun ? 0 : place;
      const left = earlier.countAfter(part, from);
      const known = { part, source, rows, before: rows - left, present: 0, leftOut: null };
      if (part === tracker) parts.push({ ...known, taken: 0, leftOut: `the project's tasks stay in ${part}` });
      else if (left === 0) parts.push({ ...known, taken: 0 });
      else if (dryRun) {
        const unreadable = await unreadableRows(earlier, { part, place: from });
        problems.push(...unreadable);
        parts.push({ ...known, taken: left - unreadable.length });
      } else {
        const taken = await takePart(world, earlier, { part, place: from, targetBranch });
        if (!taken.ok) return taken;
        problems.push(...taken.value.problems);
        parts.push({ ...known, taken: taken.value.taken, present: taken.value.present });
      }
    }
    const settings = await unusedSettings(world);
    return ok({ dryRun, parts, problems, settings, remarks: await earlier.remarks() });
  },
};

interface PartPlace {
  readonly part: EarlierPart;
  readonly place: number;
}

/** Rows that an import would leave out. Nothing is stored. */
async function unreadableRows(earlier: OpenedEarlier, { part, place }: PartPlace): Promise<readonly RowProblem[]> {
  const problems: RowProblem[] = [];
  for (let at: number | undefined = place; at !== undefined; ) {
    const rows: readonly EarlierRow[] = await earlier.after(part, at, rowsAtOnce);
    for (const row of rows) {
      const problem = whyUnreadable(part, row);
      if (problem !== undefined) problems.push({ where: row.where, problem });
    }
    at = rows.at(-1)?.row;
  }
  return problems;
}

interface PartTerms extends PartPlace {
  readonly targetBranch: string;
}

interface PartTaken {
  readonly taken: number;
  readonly present: number;
  readonly problems: readonly RowProblem[];
}

async function takePart(world: World, earlier: OpenedEarlier, terms: PartTerms): Promise<Result<PartTaken, Refusal>> {
  const { part, targetBranch } = terms;
  // Lines of a file may refer to each other.
  const limit = editedParts.includes(part) ? Number.MAX_SAFE_INTEGER : rowsAtOnce;
  let { place } = terms;
  let [taken, present] = [0, 0];
  const problems: RowProblem[] = [];
  for (;;) {
    const rows = await earlier.after(part, place, limit);
    const last = rows.at(-1)?.row;
    if (last === undefined) return ok({ taken, present, problems });
    const isLast = earlier.countAfter(part, last) === 0;
    const stored = await world.call("import.take", { part, from: place, rows, isLast, targetBranch });
    if (!stored.ok) return stored;
    place = stored.value.place;
    taken += stored.value.taken;
    present += stored.value.present;
    problems.push(...stored.value.problems);
  }
}

async function unusedSettings(world: World): Promise<readonly string[]> {
  const found = await world.call("config.validate", {});
  if (!found.ok) return [];
  return [...found.value.problems, ...found.value.warnings].map(({ key, message }) => `${key ?? ""} ${message}`.trim());
}

const nothingThere: NotImportable = {
  kind: "not-importable",
  why: "there is none here: no database of version 0.11 in .overstory/, no groups.json, no .seeds/ and no .beads/",
  next: "see what this project has: ov status",
};

const stillRuns = (what: readonly string[], end: string): NotImportable => ({
  kind: "not-importable",
  why: `it still runs: ${what.join(", ")}`,
  next: `end it (${end}), then type: ov import`,
});
