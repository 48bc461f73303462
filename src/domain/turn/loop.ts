import type { TurnEvent } from "./turn-event.ts";

export interface LoopLimits {
  /** So many times the same call of a tool may fail in the same way, with nothing that works in between; 0: any number. */
  readonly sameFailures: number;
  /** So many calls in a row may be denied; 0: any number. */
  readonly denials: number;
}

export interface LoopWatch {
  /** To be given every event of a turn in order. Says in words when the agent goes round in circles. */
  see(event: TurnEvent): string | undefined;
}

/**
 * Notices an agent that repeats the same act to no effect. Only failures count, and denials are failures: asking a long
 * job again and again is no loop. Any success in between begins the count anew.
 */
export function watchLoops({ sameFailures, denials }: LoopLimits): LoopWatch {
  const calls = new Map<string, { readonly name: string; readonly call: string; readonly summary: string | null }>();
  const failed = new Map<string, number>();
  let denied = 0;
  return {
    see: (event) => {
      if (event.kind === "tool-start") {
        const { id, name, summary, input } = event;
        calls.set(id, { name, summary, call: `${name} ${JSON.stringify(input)}` });
      }
      if (event.kind === "denied") {
        denied++;
        if (denials > 0 && denied >= denials)
          return `${denied} calls of tools in a row were denied, the last one by the rule ${event.rule}`;
      }
      if (event.kind !== "tool-end") return undefined;
      const call = calls.get(event.id);
      calls.delete(event.id);
      if (!event.failed) {
        failed.clear();
        denied = 0;
        return undefined;
      }
      if (call === undefined) return undefined;
      const key = `${call.call} ${event.said ?? ""}`;
      const times = (failed.get(key) ?? 0) + 1;
      failed.set(key, times);
      if (sameFailures === 0 || times < sameFailures) return undefined;
      const what = call.summary === null ? call.name : `${call.name}: ${call.summary}`;
      return `the same call failed in the same way ${times} times in a row (${what})`;
    },
  };
}
