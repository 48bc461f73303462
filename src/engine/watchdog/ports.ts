import type { HealthLimits } from "../../domain/health/ladder.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Processes } from "../../ports/process.ts";
import type { Store } from "../../ports/store.ts";

export interface WatchdogPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly processes: Pick<Processes, "check">;
  readonly settings: WatchdogSettings;
}

export interface WatchdogSettings {
  /** Turns that may run at the same time. */
  readonly maxTurns: number;
  /** The `watchdog` section of the configuration. */
  readonly watchdog: HealthLimits & {
    readonly tier0Enabled: boolean;
    readonly tier0IntervalMs: number;
    readonly notifyParentOnDeath: boolean;
  };
}

/** An interval of nothing would be a loop without rest. */
const shortestIntervalMs = 100;

/** Time between two ticks, at least. */
export const paceOf = ({ watchdog }: WatchdogSettings): number =>
  Math.max(watchdog.tier0IntervalMs, shortestIntervalMs);
