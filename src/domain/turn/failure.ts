/**
 * What is done about a failed turn:
 * wait    it would work later: parked with a growing pause, no attempt used
 * end     it would fail again in the same way: the agent ends at once, and the operator is told what to do
 * fresh   the conversation cannot go on: once more as a new one; what fails there too ends
 * budget  what was set aside is spent: the budget decides when it goes on
 * retry   anything else: tried again, and the attempts are counted
 */
type FailurePolicy = "wait" | "end" | "fresh" | "budget" | "retry";

interface FailureKind {
  readonly policy: FailurePolicy;
  readonly words: string;
}

/** Why a turn failed, by what the agent's program said. Adapters translate into this list; nothing above them guesses. */
export const failures = {
  rate_limit: { policy: "wait", words: "the provider's rate limit is reached" },
  overloaded: { policy: "wait", words: "the provider is overloaded" },
  server_error: { policy: "wait", words: "the provider has a failure of its own" },
  network: { policy: "wait", words: "the provider cannot be reached" },
  busy: { policy: "wait", words: "another process of the agent's program holds its files" },
  login: { policy: "end", words: "the provider did not accept the login or the key" },
  credit: { policy: "end", words: "the account at the provider has no credit left" },
  model: { policy: "end", words: "the provider does not offer this model to the account" },
  program: { policy: "end", words: "the agent's program cannot be started" },
  mode: { policy: "end", words: "the agent's program may not work unattended here" },
  guard: { policy: "end", words: "the guard of the agent's tools does not work" },
  tools: { policy: "retry", words: "the agent's program could not start the tools of ov" },
  sandbox: { policy: "end", words: "the system cannot confine the agent, and the settings say that it must" },
  worktree: { policy: "end", words: "the agent cannot work in its worktree" },
  loop: { policy: "end", words: "the agent goes round in circles" },
  refusal: { policy: "end", words: "the model refused the request" },
  session_lost: { policy: "fresh", words: "the agent's program no longer knows the conversation" },
  context_full: { policy: "fresh", words: "the conversation is too long and cannot be shortened" },
  rejected: { policy: "fresh", words: "the provider rejected the request" },
  budget: { policy: "budget", words: "the turn used up its budget" },
  unknown: { policy: "retry", words: "the turn failed" },
} as const satisfies Readonly<Record<string, FailureKind>>;

export type FailureCause = keyof typeof failures;

export const failureCauses = Object.keys(failures) as readonly FailureCause[];

/** It passes by itself. */
export const isTransient = (cause: FailureCause | null): boolean => cause !== null && failures[cause].policy === "wait";

/** The cause in our words, and behind them what the program said. */
export const failureText = (cause: FailureCause, said: string): string => {
  if (cause === "unknown") return said === "" ? failures.unknown.words : said;
  const { words } = failures[cause];
  return said === "" || said === words ? words : `${words}: ${said}`;
};

/** What a runtime's own user would do about a cause, such as the command that logs in. */
export type RuntimeAdvice = Readonly<Partial<Record<FailureCause, string>>>;

/** What a person can do about it, with the command to type. */
export function failureAdvice(cause: FailureCause, agentName: string, own: RuntimeAdvice = {}): string {
  const again = `ov recover ${agentName}`;
  const step = own[cause];
  switch (cause) {
    case "rate_limit":
    case "overloaded":
    case "server_error":
    case "network":
    case "busy":
      return `it tries again by itself; to give up on it: ov stop ${agentName}`;
    case "login":
      return `${step ?? "log in to the provider"}, then: ${again}`;
    case "credit":
      return `add credit to the account, then: ${again}`;
    case "model":
      return `release it and sling its task with a model that the account has: ov release ${agentName}`;
    case "program":
    case "mode":
      return `${step ?? "make sure that its program runs in this shell"}, then: ${again}`;
    case "guard":
    case "tools":
      return `make sure that this ov can be run by agents, then: ${again}`;
    case "sandbox":
      return `mend that, or let it work guarded only (ov config set sandbox.required false), then: ${again}`;
    case "loop":
    case "refusal":
      return `say in other words what it should do, then: ${again} --fresh`;
    case "session_lost":
    case "context_full":
    case "rejected":
      return `begin anew with less: ${again} --fresh`;
    case "budget":
      return "ov budget";
    case "worktree":
    case "unknown":
      return again;
  }
}
