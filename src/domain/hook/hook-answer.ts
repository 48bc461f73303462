import { claudeEvents, type HookEvent } from "./hook-event.ts";

/** Text that the runtime puts before the model beside what it was doing. */
export const contextAnswer = (event: HookEvent, additionalContext: string) => ({
  hookSpecificOutput: { hookEventName: claudeEvents[event], additionalContext },
});

/** Keeps the model at work: it reads the reason instead of stopping. */
export const goOnAnswer = (reason: string) => ({ decision: "block", reason }) as const;
