import { findOverlaps } from "../agent/scope.ts";
import { Dependencies } from "../task/dependency.ts";
import type { Task, TaskDependency } from "../task/task.ts";

export type AdvisedTask = Pick<Task, "id" | "title" | "files" | "shares" | "status" | "claimedBy" | "type">;

export interface AdviceFacts {
  /** Everything that is not closed. */
  readonly tasks: readonly AdvisedTask[];
  readonly dependencies: readonly TaskDependency[];
  /** Turns that may run at once. */
  readonly maxConcurrent: number;
}

/** Tasks that touch the same files without waiting for each other. */
export interface ConflictCluster {
  readonly tasks: readonly string[];
  /** A place where two of them meet. */
  readonly file: string;
}

/**
 * plan      there are no tasks to judge yet
 * single    one builder after another: nothing can run side by side
 * parallel  several builders at once shorten the work
 */
const verdicts = ["plan", "single", "parallel"] as const;

export interface Advice {
  readonly verdict: (typeof verdicts)[number];
  readonly openTasks: number;
  readonly readyTasks: readonly string[];
  /** The longest chain of tasks that wait for each other: no number of builders is faster. */
  readonly criticalPath: readonly string[];
  /** Tasks that could run at once if files did not matter. */
  readonly width: number;
  readonly clusters: readonly ConflictCluster[];
  /** Tasks that do not say which files they touch: for them nothing can be foreseen. */
  readonly withoutFiles: readonly string[];
  readonly builders: number;
  /** Rounds of equally long tasks with one builder, and with as many as advised. */
  readonly roundsAlone: number;
  readonly rounds: number;
}

/** How far it pays to work in parallel. Every task counts the same: how long a task takes is unknown beforehand. */
export function advise({ tasks, dependencies, maxConcurrent }: AdviceFacts): Advice {
  const work = tasks.filter(({ type }) => type !== "epic");
  const ids = new Set(work.map(({ id }) => id));
  const order = new Dependencies(dependencies.filter(({ taskId, dependsOn }) => ids.has(taskId) && ids.has(dependsOn)));
  const meetings = meetingsAmong(work, order);
  const lengths = remainingLengths([...ids], order);
  const rounds = (builders: number, conflicts: Plan["conflicts"]): readonly (readonly string[])[] =>
    planRounds({ ids: [...ids], order, conflicts, lengths, builders });
  const conflicts = neighboursOf(meetings);
  const most = Math.max(1, Math.min(maxConcurrent, work.length));
  const atBest = rounds(most, conflicts).length;
  let builders = 1;
  while (builders < most && rounds(builders, conflicts).length > atBest) builders++;
  return {
    verdict: work.length === 0 ? "plan" : builders === 1 ? "single" : "parallel",
    openTasks: work.length,
    readyTasks: work.filter((task) => isFree(task, order)).map(({ id }) => id),
    criticalPath: criticalPath([...ids], order, lengths),
    width: Math.max(0, ...rounds(work.length, new Map()).map((round) => round.length)),
    clusters: clustersOf(meetings),
    withoutFiles: work.filter(({ files }) => files.length === 0).map(({ id }) => id),
    builders: work.length === 0 ? 0 : builders,
    roundsAlone: work.length,
    rounds: atBest,
  };
}

const isFree = (task: AdvisedTask, order: Dependencies): boolean =>
  task.status === "open" && task.claimedBy === null && order.blockedBy(task.id).length === 0;

interface Meeting {
  readonly one: string;
  readonly other: string;
  readonly file: string;
}

/** Pairs of tasks whose files overlap and that no chain of dependencies keeps apart. */
function meetingsAmong(tasks: readonly AdvisedTask[], order: Dependencies): readonly Meeting[] {
  const above = new Map(tasks.map(({ id }) => [id, ancestorsOf(id, order)]));
  const apart = (a: string, b: string): boolean => above.get(a)?.has(b) === true || above.get(b)?.has(a) === true;
  const found: Meeting[] = [];
  for (const [index, task] of tasks.entries()) {
    for (const other of tasks.slice(index + 1)) {
      if (apart(task.id, other.id)) continue;
      const [overlap] = findOverlaps(
        { scope: task.files, shares: task.shares },
        { owner: other.id, scope: other.files, shares: other.shares },
      );
      if (overlap !== undefined) found.push({ one: task.id, other: other.id, file: overlap.wanted });
    }
  }
  return found;
}

function ancestorsOf(id: string, order: Dependencies): ReadonlySet<string> {
  const seen = new Set<string>();
  const rest = [...order.blockedBy(id)];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    rest.push(...order.blockedBy(next));
  }
  return seen;
}

function neighboursOf(meetings: readonly Meeting[]): Plan["conflicts"] {
  const neighbours = new Map<string, Set<string>>();
  const add = (from: string, to: string): void => {
    neighbours.set(from, (neighbours.get(from) ?? new Set()).add(to));
  };
  for (const { one, other } of meetings) {
    add(one, other);
    add(other, one);
  }
  return neighbours;
}

/** Groups of tasks that are connected by overlaps, directly or through others. */
function clustersOf(meetings: readonly Meeting[]): readonly ConflictCluster[] {
  const neighbours = neighboursOf(meetings);
  const seen = new Set<string>();
  const clusters: ConflictCluster[] = [];
  for (const { one, file } of meetings) {
    if (seen.has(one)) continue;
    const members = new Set<string>();
    const rest = [one];
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      if (members.has(next)) continue;
      members.add(next);
      seen.add(next);
      rest.push(...(neighbours.get(next) ?? []));
    }
    clusters.push({ tasks: [...members].toSorted(), file });
  }
  return clusters;
}

/**
 * For each task how many tasks follow each other from it to the end of the longest chain behind it, itself included. A
 * cycle, which the tracker refuses, counts as if it ended where it closes.
 */
export function remainingLengths(ids: readonly string[], order: Dependencies): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  const open = new Set<string>();
  const visit = (id: string): number => {
    const known = lengths.get(id);
    if (known !== undefined) return known;
    if (open.has(id)) return 0;
    open.add(id);
    const length = 1 + Math.max(0, ...order.blocks(id).map(visit));
    open.delete(id);
    lengths.set(id, length);
    return length;
  };
  for (const id of ids) visit(id);
  return lengths;
}

/** The longest chain of tasks that wait for each other, first one first. */
export function criticalPath(
  ids: readonly string[],
  order: Dependencies,
  lengths: ReadonlyMap<string, number>,
): readonly string[] {
  const longest = (among: readonly string[]): string | undefined =>
    among.toSorted((a, b) => (lengths.get(b) ?? 0) - (lengths.get(a) ?? 0))[0];
  const path: string[] = [];
  for (let next = longest(ids); next !== undefined && !path.includes(next); next = longest(order.blocks(next))) {
    path.push(next);
  }
  return path;
}

interface Plan {
  readonly ids: readonly string[];
  readonly order: Dependencies;
  /** For each task those that must not run beside it. */
  readonly conflicts: ReadonlyMap<string, ReadonlySet<string>>;
  /** How long the chain behind each task is; what holds up most goes first. */
  readonly lengths: ReadonlyMap<string, number>;
  readonly builders: number;
}

/**
 * Which tasks would run beside each other, round by round, if all took equally long. Takes the most pressing that fit
 * together: not always the best there is, but what a coordinator would do.
 */
export function planRounds({ ids, order, conflicts, lengths, builders }: Plan): readonly (readonly string[])[] {
  const done = new Set<string>();
  const urgent = ids.toSorted((a, b) => (lengths.get(b) ?? 0) - (lengths.get(a) ?? 0));
  const rounds: string[][] = [];
  while (done.size < ids.length) {
    const open = urgent.filter((id) => !done.has(id));
    const free = open.filter((id) => order.blockedBy(id).every((before) => done.has(before)));
    const round: string[] = [];
    // In a cycle no task is free, but one has to begin all the same.
    for (const id of free.length === 0 ? open.slice(0, 1) : free) {
      if (round.length >= builders) break;
      if (!round.some((other) => conflicts.get(id)?.has(other) === true)) round.push(id);
    }
    for (const id of round) done.add(id);
    rounds.push(round);
  }
  return rounds;
}

/** The advice in plain words, a sentence per line. Ids only: titles are other people's text. */
export function adviceLines(advice: Advice): readonly string[] {
  if (advice.verdict === "plan") {
    return ["There are no open tasks yet, so nothing can be foreseen: divide the objective first, then ask again."];
  }
  return [verdictLine(advice), ...chainLine(advice), ...clusterLines(advice), ...unknownLine(advice)];
}

function verdictLine({ verdict, openTasks, builders, rounds, roundsAlone }: Advice): string {
  const work = openTasks === 1 ? "One open task" : `${openTasks} open tasks`;
  if (openTasks === 1) return `${work}: one builder is enough.`;
  if (verdict === "single") return `${work}, but one after the other: a second builder would have nothing to do.`;
  const gain = `about ${rounds} ${rounds === 1 ? "round" : "rounds"} instead of ${roundsAlone}`;
  return `${work}: ${builders} builders at once, ${gain}. More would not make it faster.`;
}

function chainLine({ criticalPath, openTasks, width }: Advice): readonly string[] {
  if (openTasks === 1) return [];
  const side = `At most ${width} of them could run side by side.`;
  if (criticalPath.length === 1) return [`No task waits for another. ${side}`];
  return [`The longest chain is ${shortened(criticalPath, " -> ")}. ${side}`];
}

const clusterLines = ({ clusters }: Advice): readonly string[] =>
  clusters.map(
    ({ tasks, file }) =>
      `${shortened(tasks, ", ")} touch the same files (${file}): let one agent do them, or make them wait for each other.`,
  );

function unknownLine({ withoutFiles, openTasks }: Advice): readonly string[] {
  if (withoutFiles.length === 0 || openTasks === 1) return [];
  const all = withoutFiles.length === openTasks;
  const which = all ? "No task says" : `${shortened(withoutFiles, ", ")} do not say`;
  return [
    `${which} which files it touches, so conflicts there cannot be foreseen: ov task update <task> --files <path>`,
  ];
}

const mostNamed = 8;

function shortened(ids: readonly string[], between: string): string {
  if (ids.length <= mostNamed) return ids.join(between);
  return `${ids.slice(0, mostNamed).join(between)}${between}and ${ids.length - mostNamed} more`;
}
