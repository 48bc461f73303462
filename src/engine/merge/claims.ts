import type { MergeAttempt } from "../../domain/merge/attempt.ts";
import { bringsTarget, type MergeEntry } from "../../domain/merge/entry.ts";
import { steeringGaps } from "../../domain/merge/steering.ts";
import type { Tx } from "../../ports/store.ts";
import { askAbout, askAgain, type Doubt } from "../../usecases/merge/queue/approval.ts";
import { rejected } from "../../usecases/merge/queue/settle-entry.ts";
import { runOf } from "./checks.ts";
import { type MergePorts, mergeContext } from "./ports.ts";
import type { Concern } from "./steering.ts";

/**
 * How often the process that works on an entry may die, one time after the other, before the entry is taken for the
 * reason.
 */
const mostDeaths = 5;

/** In a paused queue only the commits of targets are taken in: agents start from them. */
export const mayLand = async (tx: Tx, entries: readonly MergeEntry[]): Promise<readonly MergeEntry[]> =>
  (await tx.merges.pause()) === undefined ? entries : entries.filter(bringsTarget);

/**
 * Marks entries as being worked on. Returns the entries that were still free, whose approval holds by the present
 * rules, and that raise no question for the operator.
 */
export async function claimEntries(
  ports: MergePorts,
  entries: readonly MergeEntry[],
  concerns: ReadonlyMap<number, Concern>,
): Promise<readonly MergeEntry[]> {
  const context = mergeContext(ports);
  return ports.store.transaction(async (tx) => {
    const claimed: MergeEntry[] = [];
    // The operator may have paused the queue since they were looked at.
    for (const entry of await mayLand(tx, entries)) {
      if (await askAgain(tx, context, entry)) continue;
      const doubt = doubtOf(ports, concerns.get(entry.id));
      if (doubt !== undefined && (await askAbout(tx, context, entry, doubt))) continue;
      const change = { status: "merging", attempts: entry.attempts + 1, updatedAt: context.now } as const;
      if (await tx.merges.change(entry.id, ["pending", "blocked"], change)) claimed.push({ ...entry, ...change });
    }
    return claimed;
  });
}

/**
 * Asks the operator about entries that wait for an approval anyway, before it is given. So one approval is enough, and
 * who gives it has been shown the difference.
 */
export async function askAhead(
  ports: MergePorts,
  entries: readonly MergeEntry[],
  concerns: ReadonlyMap<number, Concern>,
): Promise<void> {
  const doubts = entries.flatMap(({ id }) => {
    const doubt = doubtOf(ports, concerns.get(id));
    return doubt === undefined ? [] : [{ id, doubt }];
  });
  if (doubts.length === 0) return;
  const context = mergeContext(ports);
  await ports.store.transaction(async (tx) => {
    for (const { id, doubt } of doubts) {
      const entry = await tx.merges.get(id);
      // An approval that was given meanwhile did not know of the question; it is asked when the entry is taken up.
      if (entry?.status === "pending" && entry.approval === "waiting") await askAbout(tx, context, entry, doubt);
    }
  });
}

/**
 * Asks the operator about an entry that is being worked on, when merging it has shown what the branch alone does not.
 * False when the operator has approved this very commit: the entry goes on.
 */
export async function askInWork(ports: MergePorts, entry: MergeEntry, doubt: Doubt): Promise<boolean> {
  const context = mergeContext(ports);
  const back = { status: "pending", updatedAt: context.now } as const;
  return ports.store.transaction(async (tx) => {
    if (!(await tx.merges.change(entry.id, ["merging", "gating"], back))) return true;
    // The operator may have approved it since it was taken up.
    const approval = (await tx.merges.get(entry.id))?.approval ?? entry.approval;
    if (await askAbout(tx, context, { ...entry, ...back, approval }, doubt)) return true;
    await tx.merges.change(entry.id, ["pending"], { status: "merging", updatedAt: context.now });
    return false;
  });
}

/** The question for the operator, by the project's rules. */
export function doubtOf({ rules }: MergePorts, concern: Concern | undefined): Doubt | undefined {
  if (concern === undefined) return undefined;
  const touched = rules.merge.gateChanges === "ask" ? concern.touched : [];
  const { outside, putBack, uncompared, difference } = concern;
  const dropped = [...new Set(concern.dropped.flatMap(({ files }) => files))];
  const tooLarge = [...new Set(concern.dropped.flatMap((one) => one.tooLarge))];
  const isSuspect = putBack.length + dropped.length + tooLarge.length + uncompared > 0;
  if (touched.length + outside.length === 0 && !isSuspect) return undefined;
  const own = outside.length === 0 ? [] : [`it changes files outside those its agent was given: ${named(outside)}`];
  const landed = putBack.length === 0 ? [] : [`it takes out what others have landed: ${named(putBack)}`];
  const mergesWith = (of: "files" | "tooLarge"): string =>
    concern.dropped.flatMap((one) => (one[of].length === 0 ? [] : [one.merge.slice(0, 12)])).join(", ");
  const lines = [
    ...(dropped.length === 0
      ? []
      : [
          `its merge ${mergesWith("files")} left out lines that others have landed and that git would have taken in: ${named(dropped)}`,
        ]),
    ...(tooLarge.length === 0
      ? []
      : [
          `its merge ${mergesWith("tooLarge")} may have left out lines that others have landed, in files that are too large to compare: ${named(tooLarge)}`,
        ]),
    ...(uncompared === 0
      ? []
      : [`it takes in what has landed so often that ${uncompared} of its merges were not compared with git's own`]),
  ];
  const files = [...new Set([...touched.map(({ path }) => path), ...outside, ...putBack, ...dropped, ...tooLarge])];
  return { why: [...steeringGaps(touched), ...own, ...landed, ...lines], files, difference };
}

const named = (paths: readonly string[]): string =>
  paths.length <= mostNamed
    ? paths.join(", ")
    : `${paths.slice(0, mostNamed).join(", ")} and ${paths.length - mostNamed} more`;
const mostNamed = 8;

/**
 * Entries of attempts that were not ended go back into the queue. `died`: the engine that worked on them is gone; entries
 * to which that happens again and again fail. `broke`: this engine could not even record that it gave up, which is no
 * fault of the entries; they rest.
 */
export async function freeLostEntries(ports: MergePorts, how: "died" | "broke"): Promise<void> {
  const context = mergeContext(ports);
  await ports.store.transaction(async (tx) => {
    const outcome = how === "died" ? "lost" : "blocked";
    for (const attempt of await tx.mergeAttempts.unfinished()) {
      await tx.mergeAttempts.change(attempt.id, { outcome, finishedAt: context.now });
    }
    for (const entry of await tx.merges.list({ statuses: ["merging", "gating"] })) {
      const attempts = await tx.mergeAttempts.of(entry.id);
      const notBefore = how === "died" ? entry.notBefore : context.now + brokenRestMs;
      const change = { status: "pending", notBefore, updatedAt: context.now } as const;
      if (how === "broke" || deathsInARow(attempts) < mostDeaths) {
        await tx.merges.change(entry.id, ["merging", "gating"], change);
        continue;
      }
      const message = `whoever merged it died ${mostDeaths} times in a row`;
      await rejected(tx, context, entry, { status: "failed", cause: "worker_crash", detail: { message } });
    }
  });
}

/** The store is what broke; it is asked again soon. */
const brokenRestMs = 5_000;

function deathsInARow(attempts: readonly MergeAttempt[]): number {
  const last = attempts.findLastIndex(({ outcome }) => outcome !== "lost");
  return attempts.length - 1 - last;
}

/** A gate has no work of its own to save. */
const graceMs = 500;

/** Ends the gates of an engine that is no more. What one of them was about to install was not kept, and is not used. */
export async function endLostGates(ports: MergePorts): Promise<void> {
  const { store, processes, clock } = ports;
  const lost = await store.read((tx) => tx.processes.liveInRole("gate"));
  for (const gate of lost) {
    const { id: gateRun, mark } = runOf(ports, gate.id);
    await processes.endTree(gate, graceMs, { gateRun, mark });
    await store.transaction((tx) => tx.processes.end(gate.id, "its engine is gone", clock.now()));
  }
}
