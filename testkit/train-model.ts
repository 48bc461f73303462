import type {
  CheckAnswer,
  CheckRequest,
  LandAnswer,
  Landing,
  MergeAnswer,
  Tip,
  TrainEntry,
  TrainSteps,
} from "../src/engine/merge/train/steps.ts";

/** A branch of the model: merging it adds these parts to the tree. */
export interface ModelEntry extends TrainEntry {
  readonly adds: readonly string[];
}

/** A gate fails on trees that have all of `needs` and not `repairedBy`. Without needs it fails from the start. */
export interface ModelRule {
  readonly gate: string;
  readonly needs: readonly string[];
  readonly repairedBy?: string;
}

export interface ModelRules {
  /** Parts on the landing branch at the start. */
  readonly base: readonly string[];
  /** Branches that are merged into it already. */
  readonly held: readonly string[];
  readonly rules: readonly ModelRule[];
  /** Parts that git cannot merge with each other. */
  readonly conflicts: readonly (readonly [string, string])[];
  /** Does the gate `wobbly` fail the first time on this tree? */
  readonly wobbles: (tree: string) => boolean;
  /** Before these attempts to land, counted from 0, a stranger adds a part of their own. */
  readonly strangersAt: readonly number[];
  /** The call, counted over all steps from 0, at which the process dies. */
  readonly diesAt?: number;
}

/**
 * A repository in which a tree is the set of parts in it, and the rules say which sets are broken. It remembers every
 * question, and throws at once when an unchecked tree is landed.
 */
export class ModelWorld implements TrainSteps<ModelEntry> {
  tip: Tip;
  readonly asked: { readonly tree: string; readonly request: CheckRequest }[] = [];
  /** Every commit the landing branch ever was at. */
  readonly history: Tip[];
  busiest = 0;
  readonly #rules: ModelRules;
  readonly #trees = new Map<string, string>();
  readonly #wobbled = new Set<string>();
  #calls = 0;
  #landings = 0;
  #running = 0;

  constructor(rules: ModelRules) {
    this.#rules = rules;
    this.tip = this.#commit(["start", ...rules.held].join("+"), treeOf(rules.base));
    this.history = [this.tip];
  }

  async merge(onto: string, entry: ModelEntry): Promise<MergeAnswer> {
    this.#live();
    const parts = partsOf(this.#treeAt(onto));
    const clash = entry.adds.find((part) => clashes(this.#rules, parts, part));
    if (clash !== undefined) return { kind: "stopped", cause: "conflict", detail: { message: clash } };
    const merged = { kind: "merged", tier: "clean-merge", strategy: null } as const;
    const tree = treeOf([...parts, ...entry.adds]);
    if (holds(onto, entry.branch)) return { ...merged, commit: onto, tree };
    return { ...merged, ...this.#commit(`${onto}+${entry.branch}`, tree) };
  }

  async check(commit: string, tree: string, request: CheckRequest): Promise<CheckAnswer> {
    this.#live();
    if (this.#treeAt(commit) !== tree) throw new Error(`${commit} does not hold ${tree}`);
    this.asked.push({ tree, request });
    this.busiest = Math.max(this.busiest, ++this.#running);
    await Promise.resolve();
    this.#running--;
    const failing = new Set(failingGates(this.#rules, tree));
    if (this.#rules.wobbles(tree) && !this.#wobbled.has(tree)) failing.add("wobbly");
    this.#wobbled.add(tree);
    const failedGates = [...failing].filter((gate) => request.gates?.includes(gate) ?? true);
    const detail = { message: `log of ${tree}` };
    return { passed: failedGates.length === 0, failedGates, detail };
  }

  async land({ from, to }: Landing<ModelEntry>): Promise<LandAnswer> {
    this.#live();
    const attempt = this.#landings++;
    if (this.#rules.strangersAt.includes(attempt)) {
      const tree = treeOf([...partsOf(this.tip.tree), `s${attempt}`]);
      this.#moveTo(this.#commit(`${this.tip.commit}+s${attempt}`, tree));
    }
    if (this.tip.commit !== from.commit) return { kind: "moved", tip: this.tip };
    const evidence = this.asked.some(({ tree, request }) => tree === to.tree && request.gates === undefined);
    if (to.tree !== from.tree && !evidence) throw new Error(`${to.tree} lands without having been checked`);
    this.#moveTo(to);
    // A process may die after the branch moved and before it could say so.
    this.#live();
    return { kind: "landed" };
  }

  #moveTo(tip: Tip): void {
    this.tip = tip;
    this.history.push(tip);
  }

  #commit(commit: string, tree: string): Tip {
    this.#trees.set(commit, tree);
    return { commit, tree };
  }

  #treeAt(commit: string): string {
    const tree = this.#trees.get(commit);
    if (tree === undefined) throw new Error(`no such commit: ${commit}`);
    return tree;
  }

  #live(): void {
    if (this.#calls++ === this.#rules.diesAt) throw new Error("the process died");
  }
}

/** Is the branch in this commit's history? */
export const holds = (commit: string, branch: string): boolean => commit.split("+").includes(branch);

export const treeOf = (parts: readonly string[]): string => [...new Set(parts)].sort().join(" ");

export const partsOf = (tree: string): readonly string[] => tree.split(" ").filter((part) => part !== "");

/** What the gates would say about a tree on a calm day. */
export function failingGates({ rules }: Pick<ModelRules, "rules">, tree: string): readonly string[] {
  const parts = partsOf(tree);
  const broken = rules.filter(
    ({ needs, repairedBy }) =>
      needs.every((part) => parts.includes(part)) && (repairedBy === undefined || !parts.includes(repairedBy)),
  );
  return [...new Set(broken.map(({ gate }) => gate))];
}

/** Does git refuse to put this part where those are? */
export const clashes = ({ conflicts }: ModelRules, parts: readonly string[], part: string): boolean =>
  !parts.includes(part) &&
  conflicts.some(([a, b]) => (a === part && parts.includes(b)) || (b === part && parts.includes(a)));
