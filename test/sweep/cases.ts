import type { KillVictim } from "../../src/host/kill-points.ts";
import { type KillPoint, killPoints } from "../../src/ports/kill-points.ts";
import { type TypedLine, typedLines } from "./drive.ts";

/** Who dies at a kill-point: whoever reaches it, or others at that instant. */
export const pointVictims = ["self", "engine", "keeper", "engine,keeper", "supervisor", "agent"] as const;
export type PointVictim = (typeof pointVictims)[number];

/** One way of disturbing the scenario. */
export type SweepCase =
  | { readonly kind: "undisturbed" }
  /** Whoever reaches a point that this scenario never reaches dies there, and the sweep fails. */
  | { readonly kind: "elsewhere" }
  | { readonly kind: "point"; readonly point: KillPoint; readonly who: PointVictim; readonly line: TypedLine }
  | CommitCase
  | { readonly kind: "random"; readonly number: number };

/** Who dies beside one of its commits; commands have kill-points there. */
const committers = ["engine", "supervisor"] as const;

/** The first process of this part that comes to its n-th commit dies right before or right after it. */
interface CommitCase {
  readonly kind: "commit";
  readonly part: (typeof committers)[number];
  readonly n: number;
  readonly edge: "before" | "after";
}

/**
 * More than any process of the part commits in this scenario: the last must not be reached, so that a sweep up to here
 * leaves none out.
 */
const mostCommits = { engine: 50, supervisor: 20 } as const;

/** As many as some process of the part makes whatever happens: these must be reached. */
const leastCommits = { engine: 12, supervisor: 4 } as const;

/** What nobody in this scenario does, by the first part of the point's name. */
const elsewhere: Readonly<Record<string, string>> = {
  merge: "nothing lands in this scenario",
  promote: "nothing is promoted in this scenario",
  gate: "no gate is run in this scenario",
  reply: "no agent asks during its turn in this scenario",
  state: "this project was made by this version",
  notify: "no notification is configured in this scenario",
};

/** Why this scenario never reaches the point; undefined when it does. */
function reasonNotReached(point: string): string | undefined {
  const isMending = point.endsWith("-mending");
  return isMending ? "nobody harms a worktree in this scenario" : elsewhere[point.split(".")[0] ?? ""];
}

const reachedPoints = killPoints.filter((point) => reasonNotReached(point) === undefined);
const otherPoints = killPoints.filter((point) => reasonNotReached(point) !== undefined);

/** Points that stand in the command itself are reached by each line; which one is killed is part of the case. */
const inCommand = (point: KillPoint): boolean => point.startsWith("command.");

/** Every point once, whoever reaches it dies; and a few commits and random instants. */
export const boundedSweep = (seed: number): SweepCase[] => [
  { kind: "undisturbed" },
  { kind: "elsewhere" },
  ...reachedPoints.map((point) => ({ kind: "point", point, who: "self", line: "stop" }) as const),
  ...someCommits(seed),
  ...randomCases(8),
];

/** Every point with every victim, those of commands in every line, every commit, and 200 random instants. */
export const fullSweep = (): SweepCase[] => [
  { kind: "undisturbed" },
  { kind: "elsewhere" },
  ...pointVictims.flatMap((who) =>
    reachedPoints.flatMap((point) =>
      (inCommand(point) ? typedLines : (["stop"] as const)).map(
        (line) => ({ kind: "point", point, who, line }) as const,
      ),
    ),
  ),
  ...committers.flatMap((part) => commitsOf(part, mostCommits[part])),
  ...randomCases(200),
];

/** Some of the first commits of each part, which are surely reached, and as many of the next. */
function someCommits(seed: number): SweepCase[] {
  const next = generator(seed);
  return committers.flatMap((part) => {
    const first = commitsOf(part, leastCommits[part]);
    const later = commitsOf(part, 2 * leastCommits[part]).slice(first.length);
    return [first, later].flatMap((some) =>
      Array.from({ length: commitsPerDraw }, () => some.splice(Math.floor(next() * some.length), 1)).flat(),
    );
  });
}

const commitsPerDraw = 3;

const commitsOf = (part: CommitCase["part"], most: number): CommitCase[] =>
  Array.from({ length: most }, (_, index) => index + 1).flatMap((n) =>
    (["before", "after"] as const).map((edge) => ({ kind: "commit", part, n, edge }) as const),
  );

const randomCases = (count: number): SweepCase[] =>
  Array.from({ length: count }, (_, number) => ({ kind: "random", number }));

/** How a case is called on the command line. */
export function nameOf(one: SweepCase): string {
  if (one.kind === "point") return `${one.point}:${one.who}:${one.line}`;
  if (one.kind === "commit") return `${one.part}:${commitPoint(one)}`;
  return one.kind === "random" ? `random:${one.number}` : one.kind;
}

const commitPoint = ({ n, edge }: CommitCase): string => `tx:${n}${edge === "after" ? "+" : ""}`;

/**
 * True when no agent's program can have been hit. Between the moment a process is on record and the opening of its gate
 * the death of its supervisor is also its own.
 */
export function sparesAgents(one: SweepCase, seed: number): boolean {
  if (one.kind === "undisturbed" || one.kind === "elsewhere") return true;
  const victims: readonly string[] = ["engine", "keeper", "engine,keeper"];
  if (one.kind === "random") return victims.includes(randomBlow(seed, one.number).victim);
  // The second commit of a supervisor puts its agent on record; a slow one beats once before that.
  if (one.kind === "commit") return one.part === "engine" || one.edge === "before" || ![2, 3].includes(one.n);
  return victims.includes(one.who) || (one.who === "self" && one.point !== "turn.after-identity");
}

/** What the variables of a typed line must be so that the blow falls at the point. */
export function killEnvironment(one: SweepCase, line: TypedLine, marker: string): Record<string, string> {
  if (one.kind === "commit") {
    return {
      OVERSTORY_TEST_KILL_AT: commitPoint(one),
      OVERSTORY_TEST_KILL_IN: one.part,
      OVERSTORY_TEST_KILL_ONCE: marker,
    };
  }
  if (one.kind === "elsewhere")
    return { OVERSTORY_TEST_KILL_AT: otherPoints.join(","), OVERSTORY_TEST_KILL_ONCE: marker };
  if (one.kind !== "point") return {};
  const kill = {
    OVERSTORY_TEST_KILL_AT: one.point,
    OVERSTORY_TEST_KILL_WHO: one.who,
    OVERSTORY_TEST_KILL_ONCE: marker,
  };
  if (inCommand(one.point)) return line === one.line ? kill : {};
  // The engine finishes only stops whose command died after it had said what it wanted.
  if (one.point.startsWith("stop.") && line === "stop") return { OVERSTORY_TEST_KILL_AT: "command.after-commit" };
  return kill;
}

/** What is wrong with the list of cases, now that it is known where the blow fell; undefined when nothing is. */
export function reachProblem(one: SweepCase, reached: string | undefined): string | undefined {
  if (one.kind === "commit") {
    if (reached === undefined && one.n <= leastCommits[one.part])
      return "nobody made so many commits; lower leastCommits";
    return reached !== undefined && one.n >= mostCommits[one.part]
      ? "there are more commits than the list holds"
      : undefined;
  }
  if (one.kind === "elsewhere" && reached !== undefined)
    return `${reached} is reached now, although it is listed as not reached: ${reasonNotReached(reached)}`;
  if (one.kind !== "point" || reached !== undefined) return undefined;
  return "nobody reached it; list it with the reason in cases.ts";
}

export interface RandomBlow {
  readonly afterMs: number;
  readonly victim: KillVictim;
  /** Which of several, as a share of one. */
  readonly share: number;
}

/** About as long as the scenario takes. */
const windowMs = 2_000;
const randomVictims: readonly KillVictim[] = ["engine", "keeper", "supervisor", "agent", "command"];

/** The same blow for the same seed and number. */
export function randomBlow(seed: number, number: number): RandomBlow {
  const next = generator(seed + number * 7919);
  const victim = randomVictims[Math.floor(next() * randomVictims.length)] ?? "engine";
  return { victim, afterMs: next() * windowMs, share: next() };
}

/** A small generator of numbers from 0 to 1 (mulberry32); good enough to spread blows. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
