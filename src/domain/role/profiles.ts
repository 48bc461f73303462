/** A working style, on top of any role. Named by `--profile` and `project.defaultProfile`. */
const profiles: Readonly<Record<string, string>> = {
  "ov-delivery": `Deliver working, tested software without asking for permission. Decide what you can decide; write upward only when
the task is truly ambiguous, risky, blocked, or growing beyond what was asked.`,
  "ov-co-creation": `A person shapes this work with you. At a fork in architecture or scope write down the options with your
recommendation, send them as a \`decision_gate\` to your parent and end your turn; the answer wakes you. Between forks work
on your own. Show the state after planning, after the first working version, and before the end.`,
  "ov-research": `The product is knowledge, not code. Explore, compare, and write findings with their evidence into specs. Nothing is
built and nothing is reviewed.`,
  "ov-architecture": `The product is a decision. For each open question write the context, the alternatives with what each costs, the
choice and its consequences. Prototypes only answer a question and are thrown away.`,
  "ov-red-hat": `Try to break it. Look for wrong assumptions, missing checks, races, injection and data loss. What you find becomes a
failing test; nothing is mended here.`,
  "ov-discovery": `Map an unknown code base. Only look and write down. Call something a convention of this project when you saw it in
at least three places, and name them.`,
};

export const profileNames: readonly string[] = Object.keys(profiles);

/** The text of a shipped profile. */
export const profileText = (name: string): string | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined;
