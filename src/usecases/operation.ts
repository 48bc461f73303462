import type { UnknownCaller } from "../domain/caller/caller.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import type { Refusal } from "../domain/refusal.ts";
import { no, type Result } from "../domain/result.ts";
import type { SchemaOf } from "../domain/schema/schema.ts";
import type { AttachedSessions, TurnOutputs } from "../ports/agent-process.ts";
import type { CleanFiles } from "../ports/clean-files.ts";
import type { DemoRequest, DemoStage } from "../ports/demo-stage.ts";
import type { EarlierProject } from "../ports/earlier-project.ts";
import type { EngineContact, EngineControl } from "../ports/engine-contact.ts";
import type { FileHistory } from "../ports/file-history.ts";
import type { GateLogs } from "../ports/gate-logs.ts";
import type { RoleTexts } from "../ports/instructions.ts";
import type { AheadGit, QuickGit, SettlingGit } from "../ports/merge-git.ts";
import type { NotifyChannel } from "../ports/notify-channels.ts";
import type { Prices } from "../ports/prices.ts";
import type { Processes } from "../ports/process.ts";
import type { TextFiles, TypedFiles } from "../ports/project-files.ts";
import type { GeneratedParts, HookSettings, ProjectSetup, RepositoryBranches } from "../ports/project-setup.ts";
import type { ProjectRepairs, ProjectSurvey } from "../ports/project-survey.ts";
import type { RuntimeProbes, ToolGuard } from "../ports/runtime.ts";
import type { Configuration, Settings } from "../ports/settings.ts";
import type { Trackers } from "../ports/tracker.ts";
import type { Transcripts } from "../ports/transcripts.ts";
import type { TrustedPrograms } from "../ports/trusted-programs.ts";
import type { WorktreeKeeping } from "../ports/worktrees.ts";
import type { AnyEffect, ItemOf, OperationName, ReplyOf, RequestOf, StreamName } from "./catalog.ts";

/**
 * An operation is one verb of the product, named in the catalogue as `noun.verb`. Surfaces know no other part of the
 * program. A `read` or `write` is one transaction (see `UseCase`). An `effect` also reaches git, processes and files,
 * and keeps the order intent, effect, fact by calling reads and writes. A `stream` is an effect that reports its
 * progress.
 */
interface EffectBase<Request> {
  /** What a request that comes from another process must look like. The engine refuses others before anything runs. */
  readonly request: SchemaOf<Request>;
  /** Only the operator may call it, also in a project without a database or with a broken one. */
  readonly operatorOnly?: boolean;
  /**
   * The verb and its object, for the sentence that refuses callers other than the operator: "install hooks". Default:
   * the name of the operation.
   */
  readonly action?: (request: Request) => string;
  /** Where it looks for the store that knows its caller; see `Whereabouts`. */
  readonly at?: Whereabouts;
  /**
   * `engine`: for callers that cannot reach the project's files the engine runs it. `caller`: it acts on the terminal,
   * the environment or the files of the caller, so it always runs in the caller's process.
   */
  readonly place: "engine" | "caller";
}

export interface Effect<Request, Reply> extends EffectBase<Request> {
  readonly kind: "effect";
  /** The process may die at any line of it. A repeated call must go on from there. */
  readonly run: (world: World, request: Request) => Promise<Result<Reply, Refusal>>;
}

/** Runs until it has its reply or is cancelled; each item tells how things stand at one moment. */
export interface Stream<Request, Reply, Item> extends EffectBase<Request> {
  readonly kind: "stream";
  readonly run: (world: World, request: Request, listener: Listener<Item>) => Promise<Result<Reply, Refusal>>;
}

export interface Listener<Item> {
  readonly onItem: (item: Item) => void;
  /** The listener has left: the operation ends soon, and the work it started goes on without it. */
  readonly signal: AbortSignal;
}

/** Calls an operation as the same caller. */
export type Call = <N extends OperationName>(name: N, request: RequestOf<N>) => Promise<Result<ReplyOf<N>, Refusal>>;

export type Follow = <N extends StreamName>(
  name: N,
  request: RequestOf<N>,
  listener?: Partial<Listener<ItemOf<N>>>,
) => Promise<Result<ReplyOf<N>, Refusal>>;

/**
 * Where an operation looks for its project: the one at hand, as commands find it, or the repository around the directory
 * where the command was typed, which need not be a project yet.
 */
export type Whereabouts = "project" | "repository";

/** The shell that a command was typed in. */
export interface CallerShell {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The names of the variables that agents of a runtime need besides those that every agent gets. */
  neededBy(runtime: string): readonly string[];
  /** Could an agent of this runtime start from here, and with which version of its program? */
  preflight(runtime: string): Promise<Result<{ readonly version: string | null }, Refusal>>;
  /** What git says when it does not know who commits, for agents that are started from here; undefined where it knows. */
  unknownCommitter(): Promise<string | undefined>;
}

/**
 * The ports of effects and streams. Each port is loaded at its first use, so a command pays only for the ports it uses.
 */
export interface World {
  readonly call: Call;
  /** Calls operations of the project at this place, whichever project the caller's directory and environment name. */
  callIn(place: ProjectPlace): Call;
  /** Prints a line for the user at once, while the operation still runs. */
  readonly warn: (line: string) => void;
  /** Sleeps this long. Ends early with the signal. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Asks until there is an answer: again when something was written, and now and then. Ends early with the signal. */
  until<T>(ask: () => Promise<T | undefined>, signal?: AbortSignal): Promise<T>;
  /** A sentence that the disk with the project's state is full or read-only, so that nothing can go on; else undefined. */
  fullDisk(): string | undefined;
  /** What follows computes for a while: this process may spend time on becoming fast. */
  readonly expectLongWork: () => void;
  /** Refuses every caller but the operator, and puts the attempt on record where there is a store. */
  readonly requireOperator: (action: string, at?: Whereabouts) => Promise<Refusal | undefined>;
  /** The version of this program. */
  readonly version: string;
  /** The runtimes of this version, by name. */
  readonly runtimes: readonly string[];
  /** Where the project is: its root, and its state directory. */
  place(at?: Whereabouts): Promise<ProjectPlace>;
  processes(): Promise<Processes>;
  configuration(at?: Whereabouts): Promise<Configuration>;
  hookSettings(): Promise<HookSettings>;
  trustedPrograms(at?: Whereabouts): Promise<TrustedPrograms>;
  /** Of the repository around the directory where the command was typed. */
  projectSetup(): Promise<ProjectSetup>;
  /** The caller, for what needs no project. */
  unknownCaller(): UnknownCaller;
  demoStage(request: DemoRequest): Promise<DemoStage>;
  generatedParts(): Promise<GeneratedParts>;
  roleTexts(): Promise<RoleTexts>;
  toolGuard(): Promise<ToolGuard>;
  /** The prices that count in the project, and the moment at which they do. */
  prices(): Promise<Prices & { readonly now: number }>;
  /** Conversations that the programs of the caller keep. */
  transcripts(): Promise<Transcripts>;
  branches(at?: Whereabouts): Promise<RepositoryBranches>;
  /** Files at paths that the caller typed. */
  typedFiles(): Promise<TypedFiles>;
  textFiles(): Promise<TextFiles>;
  gateLogs(): Promise<GateLogs>;
  /** What the programs of agents wrote in their turns. */
  turnOutputs(): Promise<TurnOutputs>;
  /** The history of files at paths that the caller typed. */
  fileHistory(): Promise<FileHistory>;
  callerShell(): Promise<CallerShell>;
  runtimeProbes(): Promise<RuntimeProbes>;
  cleanFiles(): Promise<CleanFiles>;
  projectSurvey(): Promise<ProjectSurvey>;
  projectRepairs(): Promise<ProjectRepairs>;
  attachedSessions(): Promise<AttachedSessions>;
  engineControl(): Promise<EngineControl>;
  /** The engine of the project. Undefined where nothing was ever stored: no engine has anything to do there. */
  engine(at?: Whereabouts): Promise<EngineContact | undefined>;
  settings(): Promise<Settings>;
  quickGit(): Promise<QuickGit>;
  /** Git to look with: everything it makes vanishes when `look` has ended. */
  lookAhead<T>(look: (git: AheadGit) => Promise<T>): Promise<T>;
  settlingGit(): Promise<SettlingGit>;
  worktrees(): Promise<WorktreeKeeping>;
  trackers(): Promise<Trackers>;
  /** The ways to notify the operator that are configured, and why a configured one cannot be used. */
  notifyChannels(): Promise<{
    readonly channels: readonly NotifyChannel[];
    readonly unavailable: readonly string[];
    readonly bell: boolean;
  }>;
  earlierProject(): Promise<EarlierProject>;
}

/** Runs an effect or stream for its caller. Operations of the operator are refused to other callers first. */
export async function runEffect(
  world: World,
  { name, operation, request }: { readonly name: string; readonly operation: AnyEffect; readonly request: unknown },
  listener: Partial<Listener<unknown>> = {},
): Promise<Result<unknown, Refusal>> {
  if (operation.operatorOnly === true) {
    const refused = await world.requireOperator(operation.action?.(request) ?? name, operation.at);
    if (refused !== undefined) return no(refused);
  }
  if (operation.kind === "effect") return operation.run(world, request);
  const { onItem = () => {}, signal = new AbortController().signal } = listener;
  return operation.run(world, request, { onItem, signal });
}
