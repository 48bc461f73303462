import { Failure } from "../../domain/failure.ts";
import type { DetectedGate } from "../../domain/project/gates.ts";
import { databaseName } from "../../domain/project/place.ts";
import { planCommit } from "../../domain/project/set-up.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, noFields, text } from "../../domain/schema/schema.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { MadeFiles, ProjectSetup, SetUpOrder } from "../../ports/project-setup.ts";
import { makeBranchCommand, takenName } from "../branches/branches.ts";
import { endEngine } from "../engine/control.ts";
import type { Effect } from "../operation.ts";
import { configuredFacts, detectFacts, localGates, noGate, runtimeInForce } from "./facts.ts";

export interface InitRequest {
  readonly name?: string | undefined;
  /** Overwrite the configuration, keeping a dated copy of the old one. */
  readonly reset: boolean;
  readonly commit: boolean;
  /** Tell a person's own session about us, in the instruction file it reads. */
  readonly instructions: boolean;
  /** The runtime that agents are to have, where the caller knows better than the settings. */
  readonly runtime?: string | undefined;
  /** `merge.setup` of a new configuration. */
  readonly setup?: string | undefined;
  /** Begin with an empty database if the project's database is gone. */
  readonly newDatabase?: boolean;
  /** The caller sets gates right after this, so that a project without one is no news. */
  readonly gatesFollow?: boolean;
}

export interface InitReport {
  readonly status: "initialized" | "already_initialized";
  readonly project: string;
  /** It was a copy of another project, and became one of its own. */
  readonly isAdopted: boolean;
  readonly root: string;
  readonly canonicalBranch: string;
  /** The runtime in force here. */
  readonly runtime: string;
  /** As configured; `from` is the file a gate was read from. */
  readonly gates: readonly DetectedGate[];
  /** Paths relative to the root that were made or brought up to date. */
  readonly created: readonly string[];
  readonly unchanged: readonly string[];
  /** Copies of what a reset replaced. */
  readonly backups: readonly string[];
  /** Where the damaged database is kept that a new one took the place of, from the root. */
  readonly putAside: string | null;
  readonly committed: boolean;
  /** Paths of the files in the commit; none when nothing was committed. */
  readonly committedFiles: readonly string[];
  /** The branch of the commit; null when nothing was committed, or HEAD is on no branch. */
  readonly committedOn: string | null;
  readonly warnings: readonly string[];
}

const takenWords = "must be a directory, but something else has that name; look at it, and put it aside";

const leftOutWords =
  "is tracked, but a sparse checkout leaves it out, and new settings would take its place; bring it in: git sparse-checkout add .overstory";

/** Sets up the project around the working directory. Repeatable: existing files stay as they are. */
export const init: Effect<InitRequest, InitReport> = {
  kind: "effect",
  request: fields(
    { reset: flag, commit: flag, instructions: flag },
    { name: text, runtime: text, setup: text, newDatabase: flag, gatesFollow: flag },
  ),
  place: "caller",
  operatorOnly: true,
  action: () => "set up a project",
  at: "repository",
  run: async (world, request) => {
    const setup = await world.projectSetup();
    const taken = await takenName(world, "repository");
    if (taken !== undefined) return no(taken);
    const obstacle = setup.obstacle();
    if (obstacle !== undefined) return no(invalid(obstacle, takenWords));
    const damage = setup.databaseDamage();
    if (damage !== null && request.newDatabase !== true)
      throw new Failure({ kind: "store-corrupt", path: `${setup.place().state}/${databaseName}`, ...damage });
    // An engine would go on with the file that is put aside.
    if (damage !== null) await endEngine(world);
    const putAside = damage === null ? null : setup.putDatabaseAside();
    const { isAdopted } = await setup.bind();
    if (await setup.settingsAreLeftOut()) return no(invalid(".overstory/config.yaml", leftOutWords));
    const { isThere, lastKnown } = setup.settings();
    const keeps = (isThere || lastKnown !== undefined) && !request.reset;
    const configuration = await world.configuration("repository");
    const facts = keeps
      ? ok(await configuredFacts(configuration, request.name))
      : await detectFacts(setup, configuration, request.name);
    if (!facts.ok) return facts;
    await setup.checkDatabase({ mayBeNew: request.newDatabase === true });
    const { name, canonicalBranch, gates, warnings } = facts.value;
    const branches = await world.branches("repository");
    const toMake = (await branches.has(canonicalBranch))
      ? undefined
      : await makeBranchCommand(branches, canonicalBranch);
    const { reset, instructions } = request;
    // Where another branch brought the settings before, this one gets the same.
    const order = {
      facts: facts.value,
      setup: request.setup,
      reset,
      instructions,
      lastKnown: reset ? undefined : lastKnown,
    };
    // If several `ov init` run at the same time, one makes and commits everything, and the others find the work done.
    const { made, committed, committedFiles, remarks } = await setup.exclusively(() =>
      setUpAndCommit(setup, order, request),
    );
    const committedOn = committed ? (setup.branch ?? null) : null;
    // The processes of an adopted copy work for the original. Here its agents end, with their copied worktrees kept.
    const stopped = isAdopted ? await world.callIn(setup.place())("agent.requestStopOfAll", {}) : undefined;
    if (stopped?.ok === false) return stopped;
    const adopted = stopped === undefined ? [] : [adoptedWords(stopped.value.names.length)];
    const local = keeps ? [] : await localGates(configuration);
    const { runtime, warnings: ofRuntime } = await runtimeInForce(setup, configuration, request.runtime);
    const { created, unchanged, backups, leftAlone } = made;
    return ok({
      status: keeps && isThere ? "already_initialized" : "initialized",
      project: name,
      isAdopted,
      root: setup.root,
      canonicalBranch,
      runtime,
      gates: local.length > 0 ? local : gates,
      created,
      unchanged,
      backups,
      putAside,
      committed,
      committedFiles,
      committedOn,
      warnings: [
        ...(putAside === null ? [] : [asideWords(putAside)]),
        ...adopted,
        ...(keeps && !isThere ? [putBack] : []),
        ...earlierWords(setup.earlierDatabases()),
        ...ofRuntime,
        ...(request.gatesFollow === true ? warnings.filter((words) => words !== noGate) : warnings),
        ...(setup.isRemovable ? [removableWords(setup.root)] : []),
        ...(toMake === undefined ? [] : [noBranch(canonicalBranch, toMake)]),
        ...(leftAlone === undefined ? [] : [`${leftAlone.file} was left alone: ${leftAlone.why}`]),
        ...remarks,
        ...(committed && committedOn === null ? [onNoBranch] : []),
      ],
    });
  },
};

/** The branch checked out where the command was typed; undefined when there is none. */
export const currentBranch: Effect<object, string | undefined> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => ok(await (await world.branches("repository")).current()),
};

interface SetUp {
  readonly made: MadeFiles;
  readonly committed: boolean;
  readonly committedFiles: readonly string[];
  readonly remarks: readonly string[];
}

async function setUpAndCommit(setup: ProjectSetup, order: SetUpOrder, request: InitRequest): Promise<SetUp> {
  const made = await setup.write(order);
  // Files of ours that git does not know come from an `ov init` that was killed before its commit.
  const isUnfinished = made.created.length > 0 || made.uncommitted.some(({ tracked }) => !tracked);
  if (!request.commit || !isUnfinished) return { made, committed: false, committedFiles: [], remarks: [] };
  const { own, uncommitted } = made;
  const plan = planCommit({ own, uncommitted, ignored: await setup.ignored(own.map(({ path }) => path)) });
  const answer = await setup.commit(plan.paths, "chore: initialise overstory");
  const remarks = [
    ...because(plan.theirs, "changes of yours in there are not committed yet"),
    ...because(plan.ignored, "git is told to ignore that"),
    ...(answer.kind === "failed" ? because(plan.paths, answer.why) : []),
    ...(answer.kind === "committed" && answer.hooksNotRun.length > 0
      ? [`the new files were committed without running git hooks: ${answer.hooksNotRun.join(", ")}`]
      : []),
  ];
  const committed = answer.kind === "committed";
  return { made, committed, committedFiles: committed ? plan.paths : [], remarks };
}

const because = (paths: readonly string[], why: string): readonly string[] =>
  paths.length === 0 ? [] : [`not committed: ${paths.join(", ")} (${why})`];

const adoptedWords = (stopped: number): string =>
  `this was a copy of another project; it is one of its own now${stopped === 0 ? "" : `, and its ${stopped === 1 ? "agent was" : `${stopped} agents were`} stopped`}`;

const asideWords = (path: string): string =>
  `the new database begins without the tasks, mail and agents of before; the damaged database is kept: ${path}`;

/** Names the databases of an earlier version, so that the user does not take their tasks and mail for lost. */
const earlierWords = (found: readonly string[]): readonly string[] =>
  found.length === 0
    ? []
    : [
        `.overstory/ holds databases of an earlier Overstory (${found.join(", ")}); they are left as they are; take their agents, mail, runs, costs and events over with: ov import`,
      ];

const noBranch = (name: string, toMake: string): string =>
  `there is no branch ${name} (project.canonicalBranch), so new runs do not know where their work goes; ` +
  `make it with: ${toMake}, or name another with: ov config set project.canonicalBranch <name>`;

const removableWords = (root: string): string =>
  "this is a linked worktree: git worktree remove would delete it with what git ignores in it, " +
  `such as the worktrees of agents and what they have not committed; keep git from that with: git worktree lock ${shellWord(root)}`;

const putBack = "this checkout had no .overstory/config.yaml; its last known copy was put back";

const onNoBranch =
  "no branch is checked out, so the new files were committed on the detached HEAD alone; " +
  "keep that commit with: git branch <name>, or check your branch out and add them there with: ov init";
