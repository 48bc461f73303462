import type { Caller } from "../../domain/caller/caller.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, type Result } from "../../domain/result.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { ReachKillPoint } from "../../ports/kill-points.ts";
import type { ProjectFiles } from "../../ports/project-files.ts";
import type { Settings } from "../../ports/settings.ts";
import { Rollback, type Store, type Tx } from "../../ports/store.ts";
import { isUseCase, type OperationName, operationOf } from "../catalog.ts";
import { isWorkDue, nextMoment } from "../engine/engine-work.ts";
import { agentAround, type CallerSight, identify } from "../identity/identify.ts";
import type { Context, IsCommit, Preflight, TipOf, UseCase, WatchesDollars } from "../usecase.ts";

/** One call of a use case, as it also travels over the engine's socket. */
export interface Frame {
  readonly name: OperationName;
  readonly request: unknown;
  /** As it came: over the socket it may be anything. */
  readonly token?: unknown;
  /** The operation that this call is a step of. A refusal names that operation, because the caller asked for it. */
  readonly action?: string;
  /** A repeated id gets the same caller the reply of the first call and changes nothing. */
  readonly requestId?: string;
}

export interface ChannelPorts {
  readonly store: Store;
  /** The store in which a refused read is put on record, where `store` is read-only. */
  readonly records?: () => Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly settings: Settings;
  readonly files: ProjectFiles;
  readonly reach: ReachKillPoint;
  readonly sight: CallerSight;
  /** Set for a read soon after another call, which asked whether the engine has work to do. */
  readonly hasJustAsked?: boolean;
  readonly preflight?: Preflight;
  readonly dollarWatch?: WatchesDollars;
  readonly isCommit?: IsCommit;
  readonly takenNames?: () => Promise<readonly string[]>;
  readonly tipOf?: TipOf;
}

export interface Answer {
  readonly result: Result<unknown, Refusal>;
  /** The engine has something to do now or at a later moment, or its next moment is another one than before. */
  readonly due: boolean;
  /** The caller may start an engine for it. An engine that is started inside an agent would die with its turn. */
  readonly mayStart: boolean;
}

type AnyUseCase = UseCase<unknown, unknown>;

/** Runs one use case in one transaction as the holder of the token. The direct and the remote channel both end here. */
export async function runUseCase(ports: ChannelPorts, frame: Frame): Promise<Answer> {
  const useCase = await operationOf(frame.name);
  if (!isUseCase(useCase)) throw new Error(`${frame.name} is not one transaction`);
  return finish(ports, useCase, await runUnfinished(ports, useCase, frame));
}

async function finish({ files }: ChannelPorts, useCase: AnyUseCase, answer: Answer): Promise<Answer> {
  if (useCase.finish === undefined || !answer.result.ok) return answer;
  return { ...answer, result: await useCase.finish(files, answer.result.value) };
}

async function runUnfinished(ports: ChannelPorts, useCase: AnyUseCase, frame: Frame): Promise<Answer> {
  if (useCase.kind === "read") return read(ports, useCase, frame);
  const prepared = await prepare(ports, useCase, frame);
  if (!prepared.ok) return refuse(ports, frame, prepared.refusal);
  try {
    return await ports.store.transaction((tx) => write(tx, ports, useCase, { ...frame, request: prepared.value }));
  } catch (thrown) {
    if (!(thrown instanceof Rollback)) throw thrown;
    await useCase.discard?.(ports.files, prepared.value);
    return refuse(ports, frame, thrown.value as Refusal);
  }
}

async function read(ports: ChannelPorts, useCase: AnyUseCase, frame: Frame): Promise<Answer> {
  const answer = await look(ports, useCase, frame);
  if (answer.result.ok || !oversteps(answer.result.refusal)) return answer;
  // A refused read of what every caller may see is not put on record, unless the caller hides its token.
  if (useCase.guarded !== true && answer.result.refusal.kind !== "not-allowed") return answer;
  return refuse({ ...ports, store: ports.records?.() ?? ports.store }, frame, answer.result.refusal);
}

async function look(ports: ChannelPorts, useCase: AnyUseCase, frame: Frame): Promise<Answer> {
  return ports.store.read(async (tx) => {
    const caller = await callerOf(tx, ports, useCase, frame);
    if (!caller.ok) return { result: caller, due: false, mayStart: false };
    const context = contextOf(ports, caller.value);
    const result = await useCase.run(tx, context, frame.request);
    const asksForWork = useCase.startsNoEngine !== true && ports.hasJustAsked !== true;
    const due = asksForWork && (await hasWork(tx, context));
    const mayStart = due && caller.value.kind === "operator" && (await isOutside(tx, ports));
    return { result, due, mayStart };
  });
}

async function prepare(ports: ChannelPorts, useCase: AnyUseCase, frame: Frame): Promise<Result<unknown, Refusal>> {
  if (useCase.prepare === undefined) return { ok: true, value: frame.request };
  const caller = () => ports.store.read((tx) => callerOf(tx, ports, useCase, frame));
  // Over a connection any process may ask. Nothing is written for an unknown caller.
  const known = ports.sight.kind === "connection" ? await caller() : undefined;
  if (known?.ok === false) return known;
  const { settings, preflight, dollarWatch, isCommit, takenNames, tipOf } = ports;
  const shellOf = async (agentId: string) => {
    const agent = await ports.store.read((tx) => tx.agents.get(agentId));
    return agent?.envFile == null ? undefined : ports.files.readEnvironment(agent.envFile);
  };
  const terms = { settings, preflight, dollarWatch, isCommit, takenNames, tipOf, caller, shellOf };
  return useCase.prepare(ports.files, terms, frame.request);
}

async function write(tx: Tx, ports: ChannelPorts, useCase: AnyUseCase, frame: Frame): Promise<Answer> {
  const caller = await callerOf(tx, ports, useCase, frame);
  if (!caller.ok) throw new Rollback(caller.refusal);
  const replyId = replyIdOf(ports.ids, caller.value, frame);
  const earlier = replyId === undefined ? undefined : await tx.requests.reply(replyId);
  if (earlier !== undefined) {
    return { result: JSON.parse(earlier) as Result<unknown, Refusal>, due: true, mayStart: false };
  }
  const context = contextOf(ports, caller.value);
  const mayRest = await tx.turns.mayHaveWork();
  const result = await useCase.run(tx, context, frame.request);
  if (!result.ok) throw new Rollback(result.refusal);
  if (replyId !== undefined) await tx.requests.store(replyId, frame.name, JSON.stringify(result), context.now);
  // An engine may rest until the time of a turn, a budget or a merge that this write has taken away. It has to look again.
  // No engine is started for that.
  const works = await hasWork(tx, context);
  ports.reach("command.before-commit");
  const isOperator = caller.value.kind === "operator" && ports.sight.kind === "process";
  const mayStart = works && isOperator && useCase.startsNoEngine !== true;
  return { result, due: works || mayRest, mayStart };
}

/** A reply belongs to the caller and the use case it was given for: another caller that names the same id makes a request of its own. */
function replyIdOf(ids: Ids, caller: Caller, { name, requestId }: Frame): string | undefined {
  if (requestId === undefined) return undefined;
  const whose = caller.kind === "agent" ? caller.agentId : caller.kind;
  return ids.digest(JSON.stringify([whose, name, requestId]));
}

/** An engine that is started inside an agent would carry its mark and die with its turn. */
const isOutside = async (tx: Tx, { ids, sight }: ChannelPorts): Promise<boolean> =>
  sight.kind === "process" && (await agentAround(tx, ids, sight)) === undefined;

/** What an engine would stay for. */
async function hasWork(tx: Tx, terms: Pick<Context, "now" | "settings">): Promise<boolean> {
  if (!(await tx.turns.mayHaveWork())) return false;
  return (await isWorkDue(tx, terms)) || (await nextMoment(tx, terms)) !== undefined;
}

async function callerOf(
  tx: Tx,
  ports: ChannelPorts,
  useCase: AnyUseCase,
  frame: Frame,
): Promise<Result<Caller, Refusal>> {
  const thoroughly = useCase.kind === "write" || useCase.operatorOnly === true || useCase.guarded === true;
  const { token } = frame;
  const action = frame.action ?? frame.name;
  const caller = await identify(tx, ports.ids, { token, sight: ports.sight, thoroughly, action });
  if (!caller.ok || useCase.operatorOnly !== true || caller.value.kind === "operator") return caller;
  return no({
    kind: "not-allowed",
    action,
    caller: caller.value.name,
    why: "only the operator may do this",
  });
}

function contextOf(ports: ChannelPorts, caller: Caller): Context {
  return { caller, now: ports.clock.now(), ids: ports.ids, settings: ports.settings };
}

/** A refusal changed nothing. A refusal for want of a right is put on record. */
async function refuse(ports: ChannelPorts, frame: Frame, refusal: Refusal): Promise<Answer> {
  if (oversteps(refusal)) {
    const action = frame.action ?? frame.name;
    await ports.store.transaction(async (tx) => {
      const shown = { token: frame.token, sight: ports.sight, thoroughly: false, action };
      const caller = await identify(tx, ports.ids, shown);
      const known = caller.ok ? caller.value.name : await agentAround(tx, ports.ids, ports.sight);
      // The refusal names a process inside an agent that hides its token; its own claim does not count.
      const name = refusal.kind === "not-allowed" ? refusal.caller : (known ?? "unknown token");
      const detail = JSON.stringify(refusal);
      await tx.audit.record({ caller: name, action, refused: true, detail, now: ports.clock.now() });
    });
  }
  return { result: no(refusal), due: false, mayStart: false };
}

const oversteps = ({ kind }: Refusal): boolean => overstepping.includes(kind);

const overstepping: readonly Refusal["kind"][] = [
  "not-allowed",
  "unknown-token",
  "token-elsewhere",
  "may-not-spawn",
  "type-not-yours",
];
