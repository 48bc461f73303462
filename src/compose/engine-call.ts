import type { Store } from "../ports/store.ts";
import { isUseCase, type OperationName, operationOf } from "../usecases/catalog.ts";
import { type ChannelPorts, type Frame, runUseCase } from "../usecases/channel/run-use-case.ts";
import type { Call, Follow, Listener } from "../usecases/operation.ts";
import { runEffect } from "../usecases/operation.ts";
import type { Project } from "./project.ts";
import { makeWorld } from "./world.ts";

export interface CallTerms {
  readonly project: Project;
  readonly store: Store;
  readonly ports: ChannelPorts;
  readonly token?: unknown;
  /** A call left work for the engine. */
  readonly wake?: () => void;
  /** The caller is a person who logged in: the operations of a person's own process run here, with the files of the project. */
  readonly forPerson?: boolean;
}

/**
 * Runs operations for callers at the engine's socket, in the engine's process. The token of a request says who its
 * caller is. The engine identifies the caller before it begins an effect, also an effect that changes nothing.
 */
export function engineCall({ project, store, ports, token, wake = () => {}, forPerson = false }: CallTerms) {
  const run = async (frame: Omit<Frame, "token">, listener?: Partial<Listener<unknown>>) => {
    const operation = await operationOf(frame.name);
    if (isUseCase(operation)) {
      const { result, due } = await runUseCase(ports, { ...frame, token });
      if (due) wake();
      return result;
    }
    if (operation.place === "caller" && !forPerson)
      throw new Error(`${frame.name} is for a process beside the project`);
    const { name, request, action = name } = frame;
    const known = await runUseCase(ports, { name: "identity.check", request: {}, token, action });
    if (!known.result.ok) return known.result;
    const { root, dir: state, env } = project;
    const step = (of: OperationName, given: unknown) => run({ name: of, request: given, action });
    const world = makeWorld({
      // The catalogue gives each name the types of its own operation.
      call: step as Call,
      warn: () => {},
      env,
      cwd: root,
      place: async () => ({ root, state }),
      project: async () => project,
      store: () => store,
      state: () => state,
      changeCounter: () => store.changeCounter(),
      caller: "remote",
    });
    return runEffect(world, { name, operation, request }, listener);
  };
  const call = ((name: OperationName, request: unknown) => run({ name, request })) as Call;
  const follow = ((name: OperationName, request: unknown, listener?: Partial<Listener<unknown>>) =>
    run({ name, request }, listener)) as Follow;
  return { run, call, follow };
}
