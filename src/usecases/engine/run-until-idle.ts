import { no, ok } from "../../domain/result.ts";
import type { Stream } from "../operation.ts";
import { workload } from "./control.ts";
import { silenceWords } from "./engine-work.ts";
import type { Workload } from "./workload.ts";

export const idleEndings = ["idle", "timeout", "interrupted"] as const;

export interface IdleReport extends Workload {
  readonly ending: (typeof idleEndings)[number];
}

const lookMs = 100;

/** Is the engine itself, or waits for the one there is, until nothing is left to do. */
export const runUntilIdle: Stream<{ readonly timeoutMs?: number | undefined }, IdleReport, never> = {
  kind: "stream",
  place: "caller",
  run: async (world, { timeoutMs }, { signal }) => {
    const refused = await world.requireOperator("run the engine");
    if (refused !== undefined) return no(refused);
    const control = await world.engineControl();
    const { contact } = control;
    const stop = timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    while (!stop.aborted) {
      const other = contact.notice();
      const answers = other !== undefined && (await contact.answers());
      if (other !== undefined && !answers) world.warn(silenceWords(control));
      if (!answers) await control.run(stop);
      const left = await world.call("engine.readWorkload", {});
      if (!left.ok) return left;
      if (stop.aborted || left.value.idle) break;
      await world.sleep(lookMs);
    }
    const left = await workload(world);
    if (!left.ok) return left;
    const ending = signal.aborted ? "interrupted" : stop.aborted ? "timeout" : "idle";
    return ok({ ending, ...left.value });
  },
};
