import { type Agent, hasEnded, newestPerName } from "../../agent/agent.ts";
import { type ProjectFacts, processKey, type SeenPlace } from "../facts.ts";
import { breach, failing, type Inconsistency, mendedByEngine, warning } from "../finding.ts";

/** Worktrees of agents and checkouts of gates: rows, directories, git's records. */
export function placeRules(facts: ProjectFacts): readonly Inconsistency[] {
  // Without rows the owner of a worktree is unknown.
  const ofGit = [...locks(facts), ...unreadableRefs(facts)];
  if (facts.rows === null) return ofGit;
  const { agents } = facts.rows;
  // What a worktree holds can only be kept, before it is taken away, once git can read it.
  const readable = [...seats(agents, facts), ...unreadableWorktrees(agents, facts)];
  return [...readable, ...directories(agents, facts), ...records(agents, facts), ...ofGit];
}

/** Does this agent work, or may it be brought back to work, in its worktree? */
const isSeated = ({ worktreePath, worktreeKind, cleanedAt }: Agent): boolean =>
  worktreePath !== null && worktreeKind !== "root" && cleanedAt === null;

function seats(agents: readonly Agent[], { git, rows, gone }: ProjectFacts): readonly Inconsistency[] {
  const at = new Map(git.places.map((place) => [place.path, place]));
  const recorded = new Set(git.records.map(({ path }) => path));
  const removing = new Set(
    (rows?.removals ?? []).filter((one) => !gone.has(processKey(one))).map((one) => one.agentName),
  );
  return newestPerName(agents).flatMap((agent) => {
    const { id, name, worktreePath, releasedAt } = agent;
    if (!isSeated(agent) || worktreePath === null || removing.has(name) || removing.has(everyAgent)) return [];
    const place = at.get(worktreePath);
    const standing = git.standings.get(id);
    if (releasedAt !== null) {
      const says = `${name} was released, and its worktree is still there`;
      const isReplaced = standing === "other" && place?.link === "missing";
      return [
        ...(place === undefined ? [] : [breach(uncleaned, name, says, { on: "engine" })]),
        // The engine takes away worktrees of agents, and leaves what stands in their place.
        ...(isReplaced ? [strayAt(place, recorded.has(worktreePath))] : []),
      ];
    }
    if (place === undefined || standing === "nothing") {
      return [
        breach(noDirectory, name, `the worktree of ${name} is gone: ${worktreePath}`, { on: "reseat", agentId: id }),
      ];
    }
    if (standing === "other" && place.link !== "sound" && place.link !== "clone") {
      const says = `something else stands in the place of the worktree of ${name}`;
      return [breach(standIn, name, says, { on: "reseat", agentId: id })];
    }
    if (place.link === "missing" || place.link === "astray") {
      return [
        breach(noLink, name, `git does not know the worktree of ${name} from inside`, { on: "relink", agentId: id }),
      ];
    }
    return [];
  });
}

/** A cleaning of the whole project is on record under this name. */
const everyAgent = "*";

const uncleaned = warning("worktree-of-released-agent", {
  affects: "it takes room, and the name is not free",
  does: "starts or wakes the engine, which keeps the work in a snapshot and takes the worktree away",
  ...mendedByEngine,
});
const noDirectory = failing("agent-without-worktree", {
  affects: "every turn of the agent fails",
  does: "makes the worktree again from the branch and brings back what snapshots kept",
  isOfEngine: true,
});
const standIn = failing("worktree-replaced", {
  affects: "every turn of the agent fails",
  does: "moves the directory to the trash, makes the worktree again from the branch and brings back what snapshots kept",
  isOfEngine: true,
});
const noLink = failing("worktree-without-link", {
  affects: "git commands of the agent would work on the project's own checkout",
  does: "writes the link of the worktree again; no file changes",
  ...mendedByEngine,
});

function directories(agents: readonly Agent[], { git }: ProjectFacts): readonly Inconsistency[] {
  const recorded = new Map(git.records.map((record) => [record.path, record]));
  const owned = new Set(agents.filter(isSeated).map(({ worktreePath }) => worktreePath));
  // An agent owns its place from its reservation on, before its worktree is on record.
  const coming = new Set(
    agents.filter((agent) => !hasEnded(agent) && agent.worktreePath === null).map(({ name }) => name),
  );
  return git.places.flatMap((place): readonly Inconsistency[] => {
    const { kind, name, path, link, isDirectory } = place;
    if (kind === "gate") return gatePlace(place);
    if (owned.has(path) || coming.has(name)) return [];
    const half = /^\.(.+)\.(preparing|removing)$/.exec(name);
    if (half !== null) {
      if (coming.has(half[1] ?? "")) return [];
      return [
        breach(
          halfMade,
          name,
          `${path} is left of a worktree that was being ${half[2] === "removing" ? "removed" : "made"}`,
          { on: "trash", path },
        ),
      ];
    }
    const record = recorded.get(path);
    if (isDirectory && link === "sound" && record !== undefined) {
      const step = { on: "remove", path, branch: record.branch ?? "" } as const;
      return [breach(strayWorktree, name, `${path} is a worktree of no agent`, step)];
    }
    return [strayAt(place, record !== undefined)];
  });
}

/** Git's record of the worktree that stood here would keep its branch checked out: it goes with the directory. */
function strayAt({ name, path }: SeenPlace, isRecorded: boolean): Inconsistency {
  const prune = isRecorded ? [{ on: "prune", path } as const] : [];
  return breach(strayDirectory, name, `${path} belongs to no agent`, { on: "trash", path }, ...prune);
}

function gatePlace({ name, path, link, isDirectory }: SeenPlace): readonly Inconsistency[] {
  if (!/^\d+$/.test(name) || (isDirectory && link === "sound")) return [];
  return [breach(brokenGatePlace, name, `${path} is no checkout of this project any more`, { on: "trash", path })];
}

const strayWorktree = warning("worktree-without-agent", {
  affects: "it takes room, and its branch cannot be checked out elsewhere",
  does: "keeps all work in it under refs/overstory/rescue/, and takes the worktree away",
});
const strayDirectory = warning("directory-without-agent", {
  affects: "an agent of that name cannot be started",
  does: "moves it to the trash, where it never expires",
});
const halfMade = warning("half-made-worktree", {
  affects: "it takes room",
  does: "moves it to the trash, where it never expires",
});
const brokenGatePlace = warning("gate-place-broken", {
  affects: "the next gate makes its checkout anew",
  does: "moves it to the trash; it holds copies only",
  ...mendedByEngine,
});

function records(agents: readonly Agent[], { git }: ProjectFacts): readonly Inconsistency[] {
  const owned = new Set(agents.filter(isSeated).map(({ worktreePath }) => worktreePath));
  return git.records.flatMap(({ kind, path, exists }) => {
    if (exists || owned.has(path)) return [];
    const what = kind === "gate" ? "a checkout of gates" : "a worktree";
    return [breach(emptyRecord, path, `git has ${what} on record that is not there: ${path}`, { on: "prune", path })];
  });
}

const emptyRecord = warning("record-of-no-worktree", {
  affects: "its branch counts as checked out",
  does: "keeps commits that only this record holds in a snapshot, and deletes the record",
});

function locks({ git }: ProjectFacts): readonly Inconsistency[] {
  return git.locks
    .filter(({ isStale }) => isStale)
    .map(({ path }) => breach(staleLock, path, `${path} is there, and no process can hold it`, { on: "trash", path }));
}

const staleLock = failing("stale-git-lock", {
  affects: "git commands fail there, yours and those of agents",
  does: "moves the lock file to the trash",
});

function unreadableRefs({ git }: ProjectFacts): readonly Inconsistency[] {
  return git.unreadable
    .filter(({ kind }) => kind === "ref")
    .map(({ path }) => breach(unreadableRef, path, `git cannot read the ref in ${path}`, { on: "trash", path }));
}

const unreadableRef = failing("unreadable-ref", {
  affects: "git commands that read all refs fail, and the branch cannot be made again",
  does: "moves the file to the trash; a branch on record is made again",
});

function unreadableWorktrees(agents: readonly Agent[], { git }: ProjectFacts): readonly Inconsistency[] {
  const owners = new Map(
    newestPerName(agents)
      .filter(isSeated)
      .map((agent) => [agent.worktreePath, agent]),
  );
  return git.unreadable.flatMap((file) => {
    if (file.kind === "ref" || file.worktree === null) return [];
    const owner = owners.get(file.worktree);
    const branch = owner?.branch ?? null;
    // Only a row says which branch the HEAD of a worktree has to name; an index can be written for any.
    if (file.kind === "head" && branch === null) return [];
    const name = owner?.name ?? file.worktree.slice(file.worktree.lastIndexOf("/") + 1);
    const of = owner === undefined ? file.worktree : `the worktree of ${name}`;
    const says = `git cannot read the ${file.kind === "head" ? "HEAD" : "index"} of ${of}`;
    return [breach(unreadableWorktree, `${name}/${file.kind}`, says, { on: "recheck", file, branch: branch ?? "" })];
  });
}

const unreadableWorktree = failing("unreadable-worktree", {
  affects: "git commands of the agent fail, and its work cannot be kept",
  does: "moves that file to the trash and writes it again for the branch of the agent; files of the worktree stay as they are",
  isOfEngine: true,
});
