import type { Store } from "../ports/store.ts";
import { isUseCase, type OperationName, operationOf } from "../usecases/catalog.ts";
import { runEffect } from "../usecases/channel/run-effect.ts";
import { type ChannelPorts, type Frame, runUseCase } from "../usecases/channel/run-use-case.ts";
import type { Call, Follow, Listener } from "../usecases/operation.ts";
import type { Project } from "./project.ts";
import { makeWorld } from "./world.ts";

export interface CallTerms {
  readonly project: Project;
  readonly store: Store;
  readonly ports: ChannelPorts;
  readonly token?: unknown;
  /** A call left work for the engine. */
  readonly wake?: () => void;
}

/** Runs operations in the engine's own process, as the holder of a token that came over a connection. */
export function engineCall(terms: CallTerms) {
  const { project, store, ports, token, wake = () => {} } = terms;
  const run = async (frame: Omit<Frame, "token">, listener?: Partial<Listener<unknown>>) => {
    const operation = await operationOf(frame.name);
    if (isUseCase(operation)) {
      const { result, due } = await runUseCase(ports, { ...frame, token });
      if (due) wake();
      return result;
    }
    if (operation.place === "caller") throw new Error(`${frame.name} is for a process beside the project`);
    const { root, dir: state, env } = project;
    const world = makeWorld({
      call,
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
    return runEffect(world, { name: frame.name, operation, request: frame.request }, listener);
  };
  // The catalogue gives each name the types of its own operation.
  const call = ((name: OperationName, request: unknown) => run({ name, request })) as Call;
  const follow = ((name: OperationName, request: unknown, listener?: Partial<Listener<unknown>>) =>
    run({ name, request }, listener)) as Follow;
  return { run, call, follow };
}
