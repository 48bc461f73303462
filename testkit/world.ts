import { linuxProcesses } from "../src/host/processes.ts";
import type { World } from "../src/usecases/operation.ts";

/** The world of an effect under test: real time and real processes, and what the test gives; all else is refused. */
export function worldWith(parts: Partial<World>): World {
  const given: Partial<World> = {
    warn: () => {},
    sleep: (ms) => Bun.sleep(ms),
    processes: async () => linuxProcesses,
    ...parts,
  };
  return new Proxy(given, {
    get: (target, name) => {
      if (name in target) return Reflect.get(target, name);
      throw new Error(`the test gave its effect no ${String(name)}`);
    },
    // Every property that is read was given, or the read throws.
  }) as World;
}
