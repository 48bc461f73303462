import { type OwnedTurn, turnLease } from "./begin.ts";
import type { SupervisorPorts } from "./ports.ts";

/** A timer that is a little early must not wait for its next turn. */
const nearly = 0.9;

/** The beat of a turn's lease, whatever its supervisor is busy with. */
export interface LeaseBeat {
  /** Whoever wrote to the store beat along: the next one is not due before its time. */
  rodeAlong(): void;
  /** Settles only when somebody else has the turn, or has ended it. */
  readonly lost: Promise<"fenced-out">;
  readonly isLost: boolean;
  /** Afterwards no beat is under way, and none follows. */
  stop(): Promise<void>;
}

/**
 * Beats from now on until it is stopped: a worktree may take git longer to look at than anybody waits for a supervisor
 * that says nothing. It keeps nobody from exiting.
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
      // One beat that could not be written harms nobody, and the next is soon due; too long a silence is the engine's matter.
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
