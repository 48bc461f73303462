import type { Agent } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { changeable, isScopeExplained, outsideScope } from "../../domain/agent/scope.ts";
import { type NamedByCommand, namedByCommand, pathsBehind } from "../../domain/gate/named-by-command.ts";
import { bringsTarget, type MergeEntry } from "../../domain/merge/entry.ts";
import { type ProjectCommand, type SteeringFacts, type Touched, touchedSteering } from "../../domain/merge/steering.ts";
import type { MergeGit } from "../../ports/merge-git.ts";
import { ownerOfBranch } from "../../usecases/merge/branch-owner.ts";
import { type DroppedByMerge, droppedByMerges } from "./dropped-by-merge.ts";
import { branchRef, type MergePorts } from "./ports.ts";
import { baseOfTakenOut } from "./taken-out.ts";

/** Doubts about a branch that the operator should know before it lands. */
export interface Concern {
  /** Changed files that decide how the branch itself is judged. */
  readonly touched: readonly Touched[];
  /** Changed files outside of the scope of the branch's agent. */
  readonly outside: readonly string[];
  /** Files outside of that scope that landed after the agent began, and that the branch puts back as they were before. */
  readonly putBack: readonly string[];
  /**
   * Merges of the branch that left out lines which others have landed, in files that are not put back as a whole. Files
   * that are too large to compare are not in the patch either.
   */
  readonly dropped: readonly DroppedByMerge[];
  /** How many merges of the branch were not compared, because there are too many. */
  readonly uncompared: number;
  /** The patch of these files. */
  readonly difference: string;
}

/** The ports for finding out which files of a commit decide how it is judged. */
export type SteeringPorts = Pick<MergePorts, "rules"> & {
  readonly merging: Pick<
    MergeGit,
    "changedFiles" | "differing" | "merge" | "treeOf" | "linksOf" | "linksAt" | "blobAt" | "readBlob"
  >;
};

type Branch = Pick<MergeEntry, "branch" | "headCommit" | "targetBranch">;
type Head = Pick<MergeEntry, "headCommit">;

export interface Concerns {
  /** The doubts about each entry, by its number; most entries have none. */
  readonly concerns: ReadonlyMap<number, Concern>;
  /** The commit of each target on which its entries were looked at. */
  readonly tips: ReadonlyMap<string, string>;
}

/**
 * Looks at each entry on the tip of its target, with the gates and setup of that tip. One git process compares all
 * entries; only an entry with suspect files is looked at closely.
 */
export async function concernsOf(ports: MergePorts, entries: readonly MergeEntry[]): Promise<Concerns> {
  const concerns = new Map<number, Concern>();
  const tips = new Map<string, string>();
  for (const target of new Set(entries.map(({ targetBranch }) => targetBranch))) {
    const tip = await ports.merging.commitOf(branchRef(target));
    if (tip !== undefined) tips.set(target, tip);
    // An entry that brings the target's own commits changes nothing on the target.
    const here = entries.filter((entry) => entry.targetBranch === target && !bringsTarget(entry));
    if (tip === undefined || here.length === 0) continue;
    const [commands, links, differing, { owned, takesOut }] = await Promise.all([
      commandsOn(ports, tip),
      ports.merging.linksOf(tip),
      ports.merging.differing(here.map(({ headCommit }) => ({ from: tip, to: headCommit }))),
      withOwners(ports, here).then(async (known) => ({ owned: known, takesOut: await takenOutBy(ports, tip, known) })),
    ]);
    for (const [at, { entry, owner }] of owned.entries()) {
      const own = { owner, differing: differing[at] ?? [], takesOut: takesOut.get(entry.id) ?? nothing };
      const concern = await concernOf(ports, { entry, tip, links, commands, ...own });
      if (concern !== undefined) concerns.set(entry.id, concern);
    }
  }
  return { concerns, tips };
}

interface Owned {
  readonly entry: MergeEntry;
  /** The agent of the branch. */
  readonly owner: Agent | undefined;
}

/** One look at the store for all of them. */
export const withOwners = ({ store }: MergePorts, entries: readonly MergeEntry[]): Promise<readonly Owned[]> =>
  store.read(async (tx) => {
    const owned: Owned[] = [];
    for (const entry of entries) owned.push({ entry, owner: await ownerOfBranch(tx, entry.branch) });
    return owned;
  });

interface Looking {
  readonly entry: Branch;
  readonly owner: Agent | undefined;
  readonly tip: string;
  readonly links: SteeringFacts["links"];
  readonly commands: readonly ProjectCommand[];
  /** Files that differ from the target, on either side. */
  readonly differing: readonly string[];
  readonly takesOut: TakesOut;
}

/** What a branch takes out of the work that others have landed. */
type TakesOut = Pick<Concern, "putBack" | "dropped" | "uncompared">;

const nothing: TakesOut = { putBack: [], dropped: [], uncompared: 0 };

async function concernOf(ports: MergePorts, looking: Looking): Promise<Concern | undefined> {
  const { entry, tip, differing } = looking;
  const { putBack, dropped, uncompared } = looking.takesOut;
  const takesOut = [...putBack, ...dropped.flatMap(({ files }) => files)];
  const owner = isScoped(looking.owner) ? looking.owner : undefined;
  const maybe = await touchedIn(ports, looking, differing);
  const isWithin = outsideScope(differing, owner === undefined ? [] : changeable(owner)).length === 0;
  const isSuspect = putBack.length + dropped.length + uncompared > 0;
  if (maybe.length === 0 && isWithin && !isSuspect) return undefined;
  // Work that was taken out of the target comes back with the branch, and git would not count it as a change.
  const since = (await baseOfTakenOut(ports, entry, tip))?.before ?? tip;
  const changed = await ports.merging.changedFiles(since, entry.headCommit);
  const own = maybe.filter(({ path }) => changed.includes(path));
  const carried = maybe.length === 0 ? undefined : await carriedBy(ports, looking);
  const touched = [...own, ...(carried?.touched ?? []).filter(({ path }) => !changed.includes(path))];
  const outside =
    owner === undefined ? [] : outsideScope(changed, changeable(owner)).filter((path) => !putBack.includes(path));
  const unexplained = outside.length > 0 && !(await isExplained(ports, entry, since, owner)) ? outside : [];
  if (touched.length === 0 && unexplained.length === 0 && !isSuspect) return undefined;
  const paths = [...new Set([...own.map(({ path }) => path), ...unexplained, ...takesOut])];
  const parts = [paths.length === 0 ? "" : await ports.merging.patchOf(since, entry.headCommit, paths)];
  if (carried !== undefined && touched.length > own.length) {
    const elsewhere = touched.filter((each) => !own.includes(each)).map(({ path }) => path);
    parts.push(await ports.merging.patch(carried.tipTree, carried.tree, elsewhere));
  }
  return { touched, outside: unexplained, putBack, dropped, uncompared, difference: parts.join("") };
}

/**
 * What each branch takes out of the work that others have landed: its agent took the landing branch in, but kept its own
 * older files or lines. No explanation of the agent covers that. One git process tells which branches took anything in.
 */
export async function takenOutBy(
  ports: MergePorts,
  tip: string,
  owned: readonly Owned[],
): Promise<ReadonlyMap<number, TakesOut>> {
  const { merging } = ports;
  const begun: { readonly entry: MergeEntry; readonly base: string; readonly scope: readonly string[] }[] = [];
  for (const { entry, owner } of owned) {
    const base = owner?.baseCommit ?? tip;
    if (owner !== undefined && base !== tip) begun.push({ entry, base, scope: changeable(owner) });
  }
  const found = new Map<number, TakesOut>();
  if (begun.length === 0) return found;
  const left = await merging.leavingPoints(
    tip,
    begun.map(({ entry }) => entry.headCommit),
  );
  for (const [at, { entry, base, scope }] of begun.entries()) {
    const points = left[at] ?? new Set();
    if (points.size === 1 && points.has(base)) continue;
    const joined = await merging.baseOf(tip, entry.headCommit);
    if (joined === undefined || joined === base || joined === entry.headCommit) continue;
    if ((await merging.commitOf(base)) === undefined || !(await merging.contains(joined, base))) continue;
    const to = entry.headCommit;
    const [sinceJoin = [], sinceBase = []] = await merging.differing([
      { from: joined, to },
      { from: base, to },
    ]);
    const files = sinceJoin.filter((path) => !sinceBase.includes(path));
    const putBack = scope.length === 0 ? files : outsideScope(files, scope);
    const byMerges = await droppedByMerges(ports, { tip, head: to });
    const dropped = byMerges.dropped.flatMap((one) => {
      const isOther = (path: string): boolean => !putBack.includes(path);
      const others = { ...one, files: one.files.filter(isOther), tooLarge: one.tooLarge.filter(isOther) };
      return others.files.length + others.tooLarge.length === 0 ? [] : [others];
    });
    const { uncompared } = byMerges;
    if (putBack.length + dropped.length + uncompared > 0) found.set(entry.id, { putBack, dropped, uncompared });
  }
  return found;
}

/**
 * Files that decide how the branch is judged, and that a merge of the branch would change. A file that the target has
 * renamed takes the branch's changes of its old name, so the names in the branch do not tell. Undefined when git cannot
 * merge the branch.
 */
async function carriedBy(ports: SteeringPorts, looking: Pick<Looking, "tip" | "links" | "commands"> & { entry: Head }) {
  const { merging } = ports;
  const merged = await merging.merge(looking.tip, looking.entry.headCommit);
  if (merged.kind !== "clean" && merged.kind !== "conflicts") return undefined;
  const { tree } = merged;
  const tipTree = await merging.treeOf(looking.tip);
  const [changed = []] = await merging.differing([{ from: tipTree, to: tree }]);
  return { tree, tipTree, touched: await touchedIn(ports, { ...looking, entry: { headCommit: tree } }, changed) };
}

/** Files that decide how a branch is judged, and that differ between `onto` and the commit that merges the branch. */
export async function touchedByMerge(
  ports: SteeringPorts,
  { onto, merged }: { readonly onto: string; readonly merged: string },
): Promise<readonly Touched[]> {
  const [commands, links] = [await commandsOn(ports, onto), await ports.merging.linksOf(onto)];
  const [changed = []] = await ports.merging.differing([{ from: onto, to: merged }]);
  return touchedIn(ports, { entry: { headCommit: merged }, tip: onto, links, commands }, changed);
}

/** Files changed by a commit that decide how the commit is judged on this target. */
export async function touchedBy(
  ports: SteeringPorts,
  { tip, head }: { readonly tip: string; readonly head: string },
): Promise<readonly Touched[]> {
  const [commands, links] = [await commandsOn(ports, tip), await ports.merging.linksOf(tip)];
  const looking = { entry: { headCommit: head }, tip, links, commands };
  const [differing = []] = await ports.merging.differing([{ from: tip, to: head }]);
  const maybe = await touchedIn(ports, looking, differing);
  if (maybe.length === 0) return [];
  const changed = await ports.merging.changedFiles(tip, head);
  const carried = (await carriedBy(ports, looking))?.touched ?? [];
  return [
    ...maybe.filter(({ path }) => changed.includes(path)),
    ...carried.filter(({ path }) => !changed.includes(path)),
  ];
}

async function touchedIn(
  ports: SteeringPorts,
  { entry, tip, links, commands }: Pick<Looking, "tip" | "links" | "commands"> & { readonly entry: Head },
  changed: readonly string[],
): Promise<readonly Touched[]> {
  const { merge, agents, runtimes } = ports.rules;
  const manifests = commands.flatMap(({ named }) => named.scripts.map(({ manifest }) => manifest));
  const changedScripts = new Map<string, ReadonlySet<string>>();
  for (const manifest of new Set(manifests)) {
    if (!changed.includes(manifest)) continue;
    const [before, after] = [await scriptsAt(ports, tip, manifest), await scriptsAt(ports, entry.headCommit, manifest)];
    const names = new Set([...before.keys(), ...after.keys()]);
    changedScripts.set(manifest, new Set([...names].filter((name) => before.get(name) !== after.get(name))));
  }
  const facts: SteeringFacts = {
    changed,
    guarded: merge.guarded,
    ofRuntimes: runtimes.flatMap(({ spec }) =>
      spec === undefined ? [] : [spec.instructionFile, ...spec.guardedFiles],
    ),
    roleTexts: agents.baseDir,
    kept: [...merge.keepIgnored, ...merge.cache],
    commands,
    changedScripts,
    links,
  };
  return touchedSteering(facts);
}

/** The gates and the setup command, each with the files named by the scripts that it runs on the target. */
async function commandsOn(ports: SteeringPorts, tip: string): Promise<readonly ProjectCommand[]> {
  const { project, merge } = ports.rules;
  const all = project.qualityGates.map(({ name, command }) => ({ by: `the gate ${name}`, command }));
  if (merge.setup !== undefined) all.push({ by: "the setup command", command: merge.setup });
  const manifests = new Map<string, ReadonlyMap<string, string>>();
  const commands: ProjectCommand[] = [];
  for (const { by, command } of all) {
    const paths = new Set<string>();
    const scripts = new Map<string, NamedByCommand["scripts"][number]>();
    const rest = [namedByCommand(command)];
    for (let named = rest.pop(); named !== undefined; named = rest.pop()) {
      for (const path of named.paths) paths.add(path);
      for (const script of named.scripts) {
        const { manifest, name } = script;
        const key = `${manifest}\0${name}`;
        if (scripts.has(key)) continue;
        scripts.set(key, script);
        const entries = manifests.get(manifest) ?? (await scriptsAt(ports, tip, manifest));
        manifests.set(manifest, entries);
        const text = entries.get(name);
        if (text !== undefined)
          rest.push(namedByCommand(text, manifest.slice(0, Math.max(manifest.lastIndexOf("/"), 0))));
      }
    }
    commands.push({ by, named: { paths: [...paths], scripts: [...scripts.values()] } });
  }
  return await behindLinks(ports, tip, commands);
}

/** Adds the files that the named paths lead to through symbolic links on the target. */
async function behindLinks(
  { merging }: SteeringPorts,
  tip: string,
  commands: readonly ProjectCommand[],
): Promise<readonly ProjectCommand[]> {
  const paths = commands.map(({ named }) => new Set(named.paths));
  let fresh = paths.flatMap((each) => [...each]);
  for (let links = 0; fresh.length > 0 && links < mostLinks; links++) {
    const targets = await merging.linksAt(tip, fresh);
    fresh = paths.flatMap((each) => {
      const found = pathsBehind([...each], targets).filter((path) => !each.has(path));
      for (const path of found) each.add(path);
      return found;
    });
  }
  return commands.map(({ by, named }, at) => ({ by, named: { ...named, paths: [...(paths[at] ?? [])] } }));
}

/** As many links as the system follows. A circle ends earlier, because it leads to no new path. */
const mostLinks = 40;

/** The entries of `scripts` in a manifest; none when the file is missing or is not a manifest. */
async function scriptsAt(
  { merging }: SteeringPorts,
  commit: string,
  path: string,
): Promise<ReadonlyMap<string, string>> {
  const oid = await merging.blobAt(commit, path);
  if (oid === undefined) return new Map();
  try {
    const { scripts } = JSON.parse(new TextDecoder().decode(await merging.readBlob(oid))) as { scripts?: unknown };
    const entries = typeof scripts === "object" && scripts !== null ? Object.entries(scripts) : [];
    return new Map(entries.map(([name, text]) => [name, String(text)]));
  } catch {
    // A package manager finds no script in such a file.
    return new Map();
  }
}

const isScoped = (owner: Agent | undefined): boolean =>
  owner !== undefined && owner.scope.length > 0 && isIn("implementation", owner.capability);

/**
 * The agent's completion at this commit was accepted, or a commit or mail of the agent explains why it needed the
 * files.
 */
async function isExplained(
  { store, merging }: MergePorts,
  { headCommit }: Branch,
  tip: string,
  owner: Agent | undefined,
): Promise<boolean> {
  if (owner === undefined) return true;
  const { isAccepted, mailSubjects } = await store.read(async (tx) => ({
    isAccepted: (await tx.checks.completionsOf(owner.id)).some(
      ({ status, commitId }) => status === "done" && commitId === headCommit,
    ),
    mailSubjects: (await tx.messages.list({ from: owner.name })).map(({ subject }) => subject),
  }));
  return isAccepted || isScopeExplained({ commitBodies: await merging.messagesSince(tip, headCommit), mailSubjects });
}
