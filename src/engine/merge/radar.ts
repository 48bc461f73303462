import {
  type Collision,
  commitsOf,
  type HeadPair,
  pairKey,
  pairsOf,
  type RadarHead,
} from "../../domain/merge/radar.ts";
import type { RadarPair } from "../../ports/store/merges.ts";
import { commandFor } from "../../usecases/merge/generated-files.ts";
import { judgePairs, type LiveBranch, liveBranches, warnOfCollision } from "../../usecases/merge/radar.ts";
import { SingleFlight } from "../single-flight.ts";
import { branchRef, type MergePorts, mergeContext } from "./ports.ts";

/** Pairs grow with the square of the branches: beyond this many only those that moved last are looked at. */
const mostBranches = 50;

/** Moves of landing branches that may be going on side by side, with room to spare. */
const recentMoves = 20;

/**
 * Looks ahead: would the branches of working agents merge with each other, and with the landing branch? Looks only when
 * a head has changed, and then only at the pairs of that head, because a pair of commits always gives the same result.
 */
export class Radar {
  readonly #ports: MergePorts;
  #seen = "";
  readonly #flight: SingleFlight;

  /** `wake` is called when an agent was warned. */
  constructor(ports: MergePorts, wake: () => void) {
    this.#ports = ports;
    this.#flight = new SingleFlight(() => this.#pass(), { report: ports.report, wake });
  }

  look(): void {
    this.#flight.ask();
  }

  settled(): Promise<void> {
    return this.#flight.settled();
  }

  async #pass(): Promise<boolean> {
    const { live, fingerprint } = await this.#heads();
    if (fingerprint === this.#seen) return false;
    // Before the look: what git cannot read now is not asked for again until something changes.
    this.#seen = fingerprint;
    if (live.length === 0) return false;
    const watched = live.toSorted((a, b) => b.agent.lastActivityAt - a.agent.lastActivityAt).slice(0, mostBranches);
    const pairs = pairsOf(await withLandings(this.#ports, watched));
    const known = await knownPairs(this.#ports, pairs);
    const fresh = await judgeUnknown(this.#ports, pairs, known);
    const judged = new Map([...known, ...fresh.map((pair) => [keyOf(pair), pair] as const)]);
    const collisions = pairs.flatMap((pair) => {
      const found = judged.get(pairKey(commitsOf(pair)));
      return found?.outcome === "conflict" ? [{ ...pair, files: found.files }] : [];
    });
    return this.#record(fresh, await withoutLanded(this.#ports, await withoutInherited(this.#ports, live, collisions)));
  }

  /** Everything that could make another look worthwhile, without asking git. */
  async #heads(): Promise<{ readonly live: readonly LiveBranch[]; readonly fingerprint: string }> {
    return this.#ports.store.read(async (tx) => {
      const live = await liveBranches(tx, mergeContext(this.#ports));
      const moves = live.length === 0 ? [] : await tx.mergeOps.list({ status: "done", limit: recentMoves });
      const heads = live.map(({ branch, commit, landsOn }) => [branch, commit, landsOn]);
      return { live, fingerprint: JSON.stringify([heads, moves.map(({ seq }) => seq)]) };
    });
  }

  async #record(fresh: readonly RadarPair[], collisions: readonly Collision[]): Promise<boolean> {
    if (fresh.length === 0 && collisions.length === 0) return false;
    const context = mergeContext(this.#ports);
    return this.#ports.store.transaction(async (tx) => {
      for (const pair of fresh) await tx.radar.put(pair);
      let told = false;
      // Git took its time: an agent may have been stopped or have committed since.
      const live = await liveBranches(tx, context);
      const isOfNow = ({ agentName, branch, commit }: RadarHead): boolean =>
        agentName === null || live.some((one) => one.branch === branch && one.commit === commit);
      for (const collision of collisions) {
        if (!isOfNow(collision.a) || !isOfNow(collision.b)) continue;
        told = (await warnOfCollision(tx, context, collision, live)) || told;
      }
      return told;
    });
  }
}

/**
 * The branches that exist, and their landing branches, by one git process. Git does not know here of commits that are
 * in a clone only.
 */
async function withLandings({ merging }: MergePorts, live: readonly LiveBranch[]): Promise<readonly RadarHead[]> {
  const tips = new Map((await merging.refsBelow("refs/heads/")).map(({ ref, commit }) => [ref, commit]));
  const landings = [...new Set(live.map(({ landsOn }) => landsOn))].flatMap((branch): RadarHead[] => {
    const commit = tips.get(branchRef(branch));
    return commit === undefined ? [] : [{ branch, commit, agentName: null, landsOn: branch }];
  });
  return [...live.filter(({ branch }) => tips.has(branchRef(branch))), ...landings];
}

/**
 * Leaves out files that an agent did not change itself: it began on top of a branch that has not landed, and the other
 * branch collides with that one. The agents of those two are told.
 */
async function withoutInherited(
  { merging }: MergePorts,
  live: readonly LiveBranch[],
  collisions: readonly Collision[],
): Promise<readonly Collision[]> {
  const kept: Collision[] = [];
  for (const collision of collisions) {
    const { a, b, files } = collision;
    const inherited = new Set([...(await inheritedBy(a)), ...(await inheritedBy(b))]);
    const own = files.filter((file) => !inherited.has(file));
    if (own.length > 0 || files.length === 0) kept.push({ ...collision, files: own });
  }
  return kept;

  async function inheritedBy({ branch, commit, landsOn }: RadarHead): Promise<readonly string[]> {
    const base = live.find((one) => one.branch === branch)?.agent.baseCommit ?? null;
    const landing = base === null ? undefined : await merging.commitOf(branchRef(landsOn));
    if (base === null || landing === undefined || (await merging.contains(landing, base))) return [];
    const own = await merging.changedFiles(base, commit);
    return (await merging.changedFiles(landing, base)).filter((file) => !own.includes(file));
  }
}

/**
 * Leaves out what an agent did not change itself: it began on top of work that has landed, and the other branch collides
 * with that. The other one is told so as a collision with the landing branch.
 */
async function withoutLanded({ merging }: MergePorts, collisions: readonly Collision[]): Promise<readonly Collision[]> {
  const landed = collisions.filter(({ a, b }) => a.agentName === null || b.agentName === null);
  const kept: Collision[] = [];
  for (const collision of collisions) {
    const { a, b, files } = collision;
    if (landed.includes(collision)) kept.push(collision);
    else {
      const foreign = new Set([
        ...(await onlyLanded(merging, landed, a, b)),
        ...(await onlyLanded(merging, landed, b, a)),
      ]);
      const own = files.filter((file) => !foreign.has(file));
      if (own.length > 0 || files.length === 0) kept.push({ ...collision, files: own });
    }
  }
  return kept;
}

/** Files in which `one` collides with landed work, and which the agent of `other` has not changed itself. */
async function onlyLanded(
  merging: MergePorts["merging"],
  landed: readonly Collision[],
  one: RadarHead,
  other: RadarHead,
): Promise<readonly string[]> {
  const met = landed.find(({ a, b }) => a.branch === one.branch || b.branch === one.branch);
  if (met === undefined) return [];
  const tip = met.a.agentName === null ? met.a : met.b;
  const own = await merging.changedFiles(tip.commit, other.commit);
  return met.files.filter((file) => !own.includes(file));
}

const keyOf = ({ aCommit, bCommit }: RadarPair): string => pairKey({ ours: aCommit, theirs: bCommit });

async function knownPairs({ store }: MergePorts, pairs: readonly HeadPair[]): Promise<ReadonlyMap<string, RadarPair>> {
  return store.read(async (tx) => {
    const known = new Map<string, RadarPair>();
    for (const pair of pairs) {
      const { ours, theirs } = commitsOf(pair);
      const found = await tx.radar.pair(ours, theirs);
      if (found !== undefined) known.set(keyOf(found), found);
    }
    return known;
  });
}

async function judgeUnknown(
  ports: MergePorts,
  pairs: readonly HeadPair[],
  known: ReadonlyMap<string, RadarPair>,
): Promise<readonly RadarPair[]> {
  const unknown = new Map(pairs.map(commitsOf).map((pair) => [pairKey(pair), pair]));
  for (const key of known.keys()) unknown.delete(key);
  if (unknown.size === 0) return [];
  const isGenerated = (path: string): boolean => commandFor(ports.rules, path) !== undefined;
  // The trees of hundreds of merges that are only looked at have no place in the project.
  const judged = await ports.lookAhead((ahead) => judgePairs({ ...ahead, isGenerated }, [...unknown.values()]));
  const createdAt = ports.clock.now();
  return judged.map(({ ours, theirs, outcome, files }) => ({
    aCommit: ours,
    bCommit: theirs,
    outcome,
    files,
    createdAt,
  }));
}
