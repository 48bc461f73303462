import { type OwnedTurn, turnLease } from "./begin.ts";
import type { SupervisorPorts } from "./ports.ts";

/** A timer that is a little early must not wait for its next turn. */
const nearly = 0.9;

/** The beat of a turn's lease. It goes on while its supervisor is busy. */
export interface LeaseBeat {
  /** A write of the supervisor to the store counted as a beat. The next beat is due one interval later. */
  rodeAlong(): void;
  /** Settles only when another supervisor has the turn, or the turn was ended. */
  readonly lost: Promise<"fenced-out">;
  readonly isLost: boolean;
  /** Afterwards no beat is under way, and none follows. */
  stop(): Promise<void>;
}

/**
 * Beats from now on until it is stopped: git may need longer to look at a worktree than the engine waits for a supervisor
 * without a beat. The timer does not keep the process alive.
 */
export function keepBeating(
  ports: Pick<SupervisorPorts, "store" | "clock" | "limits">,
  { turn, fence }: Pick<OwnedTurn, "turn" | "fence">,
): LeaseBeat {
  const { store, clock, limits } = ports;
  const lost = Promise.withResolvers<"fenced-out">();
  let isLost = false;
  let last = clock.monotonic();
  let underWay: Promise<void> | undefined;

  const beat = async (): Promise<void> => {
    last = clock.monotonic();
    const ours = await store.transaction(async (tx) => {
      const current = await tx.turns.get(turn.id);
      if (current?.status !== "running" || current.fence !== fence) return false;
      await tx.leases.beat(turnLease(turn.id), fence);
      return true;
    });
    if (ours) return;
    isLost = true;
    lost.resolve("fenced-out");
  };

  const timer = setInterval(() => {
    if (isLost || underWay !== undefined || clock.monotonic() - last < limits.beatMs * nearly) return;
    underWay = beat()
      // One beat that could not be written does no harm: the next is due soon, and the engine notices too long a silence.
      .catch(() => {})
      .finally(() => {
        underWay = undefined;
      });
  }, limits.beatMs);
  timer.unref();

  return {
    rodeAlong: () => {
      last = clock.monotonic();
    },
    lost: lost.promise,
    get isLost() {
      return isLost;
    },
    stop: async () => {
      clearInterval(timer);
      await underWay;
    },
  };
}
